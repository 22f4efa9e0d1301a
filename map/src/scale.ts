// How far it is: a line of a round number of metres.

import type * as leaflet from "leaflet";
import { element } from "./element.ts";

/** The longest line, in pixels. */
const WIDEST = 90;

export function drawScale(map: leaflet.Map): void {
  const line = element("div", { class: "scale", "aria-hidden": "true" });
  map.getContainer().append(line);
  const settle = () => {
    const { y } = map.getSize();
    const ends = [0, WIDEST].map((x) => map.containerPointToLatLng([x, y / 2]));
    const [from, to] = ends as [leaflet.LatLng, leaflet.LatLng];
    const most = map.distance(from, to);
    const metres = rounded(most);
    line.style.width = `${(WIDEST * metres) / most}px`;
    line.textContent = metres < 1000 ? `${metres} m` : `${metres / 1000} km`;
  };
  map.on("zoomend resize", settle);
  settle();
}

/** The largest of 1, 2 and 5 times a power of ten that is not larger. */
export function rounded(metres: number): number {
  const power = 10 ** Math.floor(Math.log10(metres));
  return power * ([5, 2].find((digit) => digit * power <= metres) ?? 1);
}
