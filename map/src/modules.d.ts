/** The land around the city, which the build takes from the Census Bureau's counties. */
declare module "portolan:surroundings" {
  const rings: [number, number][][];
  export default rings;
}

declare module "*.css";
