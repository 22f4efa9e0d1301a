// The map itself. Whoever cannot see or point has the list, which says the same.

import * as leaflet from "leaflet";
import { type Crowd, Crowds, type One, spread } from "./crowds.ts";
import { element } from "./element.ts";
import { drawBase, outline } from "./base.ts";
import { drawNames, neighbourhoods } from "./names.ts";
import type { Feature, Meta } from "./records.ts";
import { ring, symbol } from "./symbols.ts";

const FARTHEST = 10;
const NEAREST = 18;
/** Near enough to see what is around an organisation. */
const CLOSE = 15;

export interface Listener {
  open(id: string): void;
  hover(id: string | undefined): void;
}

export class Chart {
  readonly #map: leaflet.Map;
  readonly #listener: Listener;
  readonly #markers = leaflet.layerGroup();
  readonly #chosen = leaflet.layerGroup();
  readonly #calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  readonly #drawn = new Map<string, leaflet.Marker>();
  #crowds = new Crowds([]);
  #selected: Feature | undefined;

  constructor(container: HTMLElement, { city }: Meta, features: Feature[], listener: Listener) {
    const [west, south, east, north] = city.bbox;
    const bounds = leaflet.latLngBounds([south, west], [north, east]);
    const moving = !this.#calm;
    this.#listener = listener;
    this.#map = leaflet.map(container, {
      attributionControl: false,
      zoomControl: false,
      zoomSnap: 0.25,
      zoomDelta: 1,
      wheelPxPerZoomLevel: 120,
      minZoom: FARTHEST,
      maxZoom: NEAREST,
      maxBounds: bounds.pad(0.6),
      maxBoundsViscosity: 0.8,
      zoomAnimation: moving,
      fadeAnimation: moving,
      markerZoomAnimation: moving,
      inertia: moving,
    });
    const shape = outline(city.id);
    const whole = shape.length > 0 ? leaflet.latLngBounds(shape) : bounds;
    this.#map.fitBounds(whole, { animate: false, padding: [12, 12] });
    drawNames(this.#map, [...drawBase(this.#map, city.id), ...neighbourhoods(features)]);
    this.#map.createPane("chosen").style.zIndex = "640";
    this.#markers.addTo(this.#map);
    this.#chosen.addTo(this.#map);
    this.#map.on("moveend", () => this.#draw());
    new ResizeObserver(() => this.#map.invalidateSize({ animate: false })).observe(container);
    // Everything in it is in the list as well, and the list can be reached by everybody.
    this.#map.getPanes().mapPane.setAttribute("aria-hidden", "true");
  }

  /** Draws these organisations and no others. */
  show(features: Feature[]): void {
    this.#crowds = new Crowds(features);
    this.#draw();
  }

  /** Marks one, and brings it into view; `covered` is what lies over the map's left side. */
  select(feature: Feature | undefined, covered = 0): void {
    this.#selected = feature;
    if (feature) this.#bring(feature, covered);
    this.#draw();
  }

  /** Shows which one on the map is meant. */
  highlight(id: string | undefined): void {
    for (const [other, marker] of this.#drawn) {
      marker.getElement()?.classList.toggle("meant", other === id);
    }
  }

  zoom(steps: number): void {
    this.#map.setZoom(this.#map.getZoom() + steps);
  }

  /** Everything that is shown, again. */
  overview(features: Feature[]): void {
    const [first] = features;
    if (!first) return;
    const bounds = leaflet.latLngBounds(features.map(place));
    this.#map.fitBounds(bounds, { animate: !this.#calm, padding: [40, 40], maxZoom: CLOSE });
  }

  #bring(feature: Feature, covered: number): void {
    const at = leaflet.latLng(place(feature));
    const { x, y } = this.#map.latLngToContainerPoint(at);
    const size = this.#map.getSize();
    const free = x > covered + 40 && x < size.x - 40 && y > 60 && y < size.y - 40;
    const zoom = Math.max(this.#map.getZoom(), CLOSE);
    if (free && zoom === this.#map.getZoom()) return;
    const middle = this.#map.project(at, zoom).subtract([covered / 2, 0]);
    this.#map.setView(this.#map.unproject(middle, zoom), zoom, { animate: !this.#calm });
  }

  #draw(): void {
    this.#markers.clearLayers();
    this.#chosen.clearLayers();
    this.#drawn.clear();
    const seen = this.#map.getBounds().pad(0.2);
    const box = [seen.getWest(), seen.getSouth(), seen.getEast(), seen.getNorth()];
    const zoom = Math.round(this.#map.getZoom());
    const { ones, crowds } = this.#crowds.within(box as [number, number, number, number], zoom);
    const moved = spread(ones);
    for (const one of ones) {
      if (one.feature.id !== this.#selected?.id) this.#drawOne(one, moved.get(one) ?? [0, 0]);
    }
    for (const crowd of crowds) this.#drawCrowd(crowd);
    if (this.#selected) this.#drawSelected(this.#selected);
  }

  #drawOne({ feature, at: [lng, lat] }: One, [x, y]: [number, number]): void {
    const { id, properties } = feature;
    const html = element("div", { class: "mark", "data-target": id });
    html.append(symbol(properties.kind, 22));
    const iconAnchor: [number, number] = [16 - x, 16 - y];
    const icon = leaflet.divIcon({ className: "place", html, iconSize: [32, 32], iconAnchor });
    const marker = leaflet.marker([lat, lng], { icon, keyboard: false, riseOnHover: true });
    marker.on("click", () => this.#listener.open(id));
    marker.on("mouseover", () => this.#listener.hover(id));
    marker.on("mouseout", () => this.#listener.hover(undefined));
    marker.bindTooltip(() => element("span", {}, properties.name), {
      direction: "top",
      offset: [x, y - 14],
      className: "name",
    });
    this.#drawn.set(id, marker.addTo(this.#markers));
  }

  #drawCrowd({ id, number, kinds, at: [lng, lat] }: Crowd): void {
    const html = ring(kinds, number) as unknown as HTMLElement;
    const size = Number(html.getAttribute("width"));
    html.setAttribute("data-number", `${number}`);
    const iconSize: [number, number] = [size, size];
    const icon = leaflet.divIcon({ className: "crowd", html, iconSize });
    const marker = leaflet.marker([lat, lng], { icon, keyboard: false });
    marker.on("click", () => {
      const zoom = Math.min(this.#crowds.apartAt(id), NEAREST);
      this.#map.setView([lat, lng], zoom, { animate: !this.#calm });
    });
    marker.addTo(this.#markers);
  }

  #drawSelected(feature: Feature): void {
    const { name, kind } = feature.properties;
    const mark = element("div", { class: "mark chosen", "data-target": feature.id });
    mark.append(symbol(kind, 30), element("span", { class: "label" }, name));
    const icon = leaflet.divIcon({ className: "place", html: mark, iconSize: [44, 44] });
    const options = { icon, keyboard: false, interactive: false, pane: "chosen" };
    leaflet.marker(place(feature), options).addTo(this.#chosen);
  }
}

function place({ geometry }: Feature): [number, number] {
  const [lng, lat] = geometry.coordinates;
  return [lat, lng];
}
