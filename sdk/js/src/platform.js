// Public information about the host.

export { about, limits, components } from "portolan:capability/platform";
