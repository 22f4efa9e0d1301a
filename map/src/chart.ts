// The map itself. Whoever cannot see or point has the list, which says the same.

import * as leaflet from "leaflet";
import type * as basemap from "./basemap.ts";
import { ALONE_FROM_ZOOM, apart, type Crowd, Crowds, joined, type One, spread } from "./crowds.ts";
import { element } from "./element.ts";
import { drawBase, outline } from "./base.ts";
import { drawNames, makeRoom, type Name, neighbourhoods } from "./names.ts";
import type { Feature, Meta } from "./records.ts";
import { drawScale } from "./scale.ts";
import { pause } from "./stream.ts";
import { ring, symbol } from "./symbols.ts";
import { grouped } from "./words.ts";

const FARTHEST = 10;
/** Nearer than this there is nothing to see without streets. */
const NEAREST = 17;
/** Near enough to see what is around an organisation. */
const CLOSE = 15;
/** What a search leaves free around its results, in pixels. */
const MARGIN = 40;
/** The height of the note on invented organisations. */
const BANNER = 36;
/** How far those at one place can be from each other, in degrees. */
const AT_PLACE = 0.0001;
/** More names than this are not laid out. */
const MOST_LABELS = 150;

/** West, south, east, north. */
export type Box = [number, number, number, number];

export interface Listener {
  open(id: string): void;
  /** The person has moved the map to show this. */
  moved(box: Box): void;
}

export class Chart {
  readonly #map: leaflet.Map;
  readonly #listener: Listener;
  readonly #markers = leaflet.layerGroup();
  readonly #chosen = leaflet.layerGroup();
  readonly #calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  readonly #drawn = new Map<string, leaflet.Marker>();
  readonly #home: leaflet.LatLngBounds;
  readonly #city: string;
  /** What lies over the map's upper side. */
  readonly #top: number;
  #crowds = new Crowds([]);
  #selected: Feature | undefined;
  /** Whether the person has moved the map since this page did. */
  #moved = false;

  constructor(container: HTMLElement, { city, synthetic }: Meta, listener: Listener) {
    this.#city = city.id;
    this.#top = synthetic ? BANNER : 0;
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
    this.#home = whole;
    this.frame(undefined);
    drawScale(this.#map);
    this.#map.createPane("chosen").style.zIndex = "640";
    this.#markers.addTo(this.#map);
    this.#chosen.addTo(this.#map);
    this.#map.on("moveend", () => this.#settle());
    for (const type of ["pointerdown", "wheel", "keydown"] as const) {
      container.addEventListener(type, () => {
        this.#moved = true;
      });
    }
    new ResizeObserver(() => this.#map.invalidateSize({ animate: false })).observe(container);
    // Everything in it is in the list as well, and the list can be reached by everybody.
    this.#map.getPanes().mapPane.setAttribute("aria-hidden", "true");
  }

  /** Draws what lies under the organisations. */
  async drawGround(features: Feature[]): Promise<void> {
    const names: Name[] = [];
    for (const step of drawBase(this.#map, this.#city)) {
      await pause();
      names.push(...step());
    }
    await pause();
    drawNames(this.#map, [...names, ...neighbourhoods(features)]);
    await pause();
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
    this.#moved = true;
    this.#map.setZoom(this.#map.getZoom() + steps);
  }

  /** Shows all of these, or the whole city; `covered` is what lies over the map's left side. */
  frame(features: Feature[] | undefined, covered = 0): void {
    this.#moved = false;
    if (features?.length === 0) return;
    const bounds = features ? leaflet.latLngBounds(features.map(place)) : this.#home;
    const margin = features ? MARGIN : 12;
    this.#map.fitBounds(bounds, {
      animate: false,
      paddingTopLeft: [covered + margin, this.#top + margin],
      paddingBottomRight: [margin, margin],
      maxZoom: CLOSE,
    });
  }

  /** Draws streets under everything, and returns whom they are of. */
  async drawBasemap(script: string, file: string): Promise<string | undefined> {
    const { addBasemap } = (await import(script)) as typeof basemap;
    return addBasemap(this.#map, file);
  }

  #settle(): void {
    this.#draw();
    if (this.#moved) this.#listener.moved(box(this.#map.getBounds()));
  }

  #bring(feature: Feature, covered: number): void {
    const at = leaflet.latLng(place(feature));
    const { x, y } = this.#map.latLngToContainerPoint(at);
    const size = this.#map.getSize();
    const free = x > covered + 40 && x < size.x - 40 && y > 60 && y < size.y - 40;
    const zoom = Math.max(this.#map.getZoom(), CLOSE);
    this.#moved = false;
    if (free && zoom === this.#map.getZoom()) return;
    const middle = this.#map.project(at, zoom).subtract([covered / 2, 0]);
    this.#map.setView(this.#map.unproject(middle, zoom), zoom, { animate: !this.#calm });
  }

  #draw(): void {
    this.#markers.clearLayers();
    this.#chosen.clearLayers();
    this.#drawn.clear();
    const zoom = Math.round(this.#map.getZoom());
    const found = this.#crowds.within(box(this.#map.getBounds().pad(0.2)), zoom);
    const street = zoom >= ALONE_FROM_ZOOM;
    const pixels = ([lng, lat]: [number, number]) => this.#map.latLngToContainerPoint([lat, lng]);
    const { ones, crowds } = street ? apart(found) : joined(found, zoom, pixels);
    const moved = spread(ones);
    const labelled: HTMLElement[] = [];
    for (const one of ones) {
      if (one.feature.id === this.#selected?.id) continue;
      const mark = this.#drawOne(one, moved.get(one) ?? [0, 0]);
      if (street && labelled.length < MOST_LABELS) labelled.push(label(mark, one.feature));
    }
    for (const crowd of crowds) this.#drawCrowd(crowd);
    if (this.#selected) this.#drawSelected(this.#selected);
    makeRoom(labelled);
  }

  #drawOne({ feature, at: [lng, lat] }: One, [x, y]: [number, number]): HTMLElement {
    const { id, properties } = feature;
    const html = element("div", { class: "mark", "data-target": id });
    html.append(symbol(properties.kind, 22));
    const iconAnchor: [number, number] = [16 - x, 16 - y];
    const icon = leaflet.divIcon({ className: "place", html, iconSize: [32, 32], iconAnchor });
    const marker = leaflet.marker([lat, lng], { icon, keyboard: false, riseOnHover: true });
    marker.on("click", () => this.#listener.open(id));
    marker.bindTooltip(() => element("span", {}, properties.name), {
      direction: "top",
      offset: [x, y - 14],
      className: "name",
    });
    this.#drawn.set(id, marker.addTo(this.#markers));
    return html;
  }

  #drawCrowd({ apartAt, number, kinds, at: [lng, lat] }: Crowd): void {
    const html = ring(kinds, number) as unknown as HTMLElement;
    const size = Number(html.getAttribute("width"));
    html.setAttribute("data-number", `${number}`);
    const iconSize: [number, number] = [size, size];
    const icon = leaflet.divIcon({ className: "crowd", html, iconSize });
    const marker = leaflet.marker([lat, lng], { icon, keyboard: false });
    marker.on("click", () => {
      // The list shows the organisations of one place, which no zoom separates.
      if (apartAt === Infinity) {
        this.#listener.moved([lng - AT_PLACE, lat - AT_PLACE, lng + AT_PLACE, lat + AT_PLACE]);
        return;
      }
      const zoom = Math.min(apartAt, NEAREST);
      this.#moved = true;
      this.#map.setView([lat, lng], zoom, { animate: !this.#calm });
    });
    if (apartAt === Infinity) {
      const told = `${grouped(number)} at this place: list them`;
      marker.bindTooltip(told, { direction: "top", offset: [0, -size / 2], className: "name" });
    }
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

function box(bounds: leaflet.LatLngBounds): Box {
  return [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
}

/** The name beside a mark, for who is near enough to read it. */
function label(mark: HTMLElement, { properties }: Feature): HTMLElement {
  const name = element("span", { class: "beside" }, properties.name);
  mark.append(name);
  return name;
}
