// A shape and a colour for each kind, so that neither alone has to be told apart.

import { diameter } from "./crowds.ts";
import { drawing } from "./element.ts";
import { KINDS } from "./words.ts";

/** Outlines in a square of 24 by 24, all of about the same weight to the eye. */
const SHAPES: Record<string, string> = {
  startup: "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18z",
  fund: "M12 1.5L22.5 12L12 22.5L1.5 12z",
  accelerator: "M12 2L22.5 20.5H1.5z",
  university: "M12 2L22 9.3L18.2 21H5.8L2 9.3z",
  coworking: "M4 4H20V20H4z",
  service_provider: "M7 3.2H17L22.2 12L17 20.8H7L1.8 12z",
  community: "M8.5 2H15.5V8.5H22V15.5H15.5V22H8.5V15.5H2V8.5H8.5z",
  public_body:
    "M12 1.8L15 8.6L22.4 9.3L16.8 14.2L18.5 21.5L12 17.7L5.5 21.5L7.2 14.2L1.6 9.3L9 8.6z",
};
const OTHER = "M3 7H21V17H3z";

/** The style's name for a kind; kinds that this page does not know share one. */
export function kindClass(kind: string): string {
  return `kind-${kind in KINDS ? kind : "other"}`;
}

export function symbol(kind: string, size = 20): SVGSVGElement {
  return drawing(
    "svg",
    {
      class: `symbol ${kindClass(kind)}`,
      viewBox: "0 0 24 24",
      width: `${size}`,
      height: `${size}`,
      "aria-hidden": "true",
    },
    drawing("path", { d: SHAPES[kind] ?? OTHER }),
  );
}

/** Many organisations at one place: their number in a ring of their kinds. */
export function ring(kinds: Map<string, number>, number: number): SVGSVGElement {
  const size = diameter(number);
  const radius = size / 2 - 4;
  const around = 2 * Math.PI * radius;
  const center = { cx: `${size / 2}`, cy: `${size / 2}` };
  const arcs: SVGCircleElement[] = [];
  let before = 0;
  for (const [kind, count] of kinds) {
    const share = (count / number) * around;
    arcs.push(
      drawing("circle", {
        ...center,
        class: `arc ${kindClass(kind)}`,
        r: `${radius}`,
        "stroke-dasharray": `${share} ${around - share}`,
        "stroke-dashoffset": `${-before}`,
      }),
    );
    before += share;
  }
  return drawing(
    "svg",
    { class: "ring", viewBox: `0 0 ${size} ${size}`, width: `${size}`, height: `${size}` },
    drawing("circle", { ...center, class: "disc", r: `${size / 2 - 1}` }),
    ...arcs,
    drawing(
      "text",
      { x: `${size / 2}`, y: `${size / 2}`, dy: "0.35em", "text-anchor": "middle" },
      number > 999 ? `${Math.round(number / 100) / 10}k` : `${number}`,
    ),
  );
}
