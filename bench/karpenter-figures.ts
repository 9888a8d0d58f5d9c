/**
 * What Karpenter 1.14.0 does with the same problems, measured: its scheduler alone (no API server, no cloud), two cores,
 * five workers, on a shared virtual machine of the kind our own figures come from. The fastest of all runs and the
 * cheapest plan seen, where each node counts as its cheapest compatible offering: the best case for Karpenter.
 */

/** Karpenter's result on one problem, and what is known about the problem's optimum. */
export interface KarpenterFigure {
  readonly problem: string;
  readonly pods: number;
  readonly types: number;
  readonly seconds: number;
  readonly usdPerHour: number;
  /** A proven lower bound of the price. With topology constraints it is the bound of a relaxed problem. */
  readonly lowerBound: number;
  /** The cheapest plan found by any method so far, where one is known. */
  readonly bestKnown?: number;
}

type Row = readonly [
  problem: string,
  pods: number,
  types: number,
  seconds: number,
  usdPerHour: number,
  lowerBound: number,
  bestKnown?: number,
];

const ROWS: readonly Row[] = [
  ['diverse1000-fake400', 1000, 400, 2.0, 346.22, 219.0],
  ['diverse5000-fake400', 5000, 400, 13.83, 1751.26, 1090.37],
  ['diverse10000-fake400', 10000, 400, 33.0, 3506.3, 2183.35],
  ['diverse20000-fake400', 20000, 400, 78.87, 7077.75, 4357.28],
  ['diverse2000-awsFULL', 2000, 1087, 14.14, 24.07, 6.52],
  ['diverse5000-awsFULL', 5000, 1087, 34.88, 59.71, 16.16],
  ['generic1000-fake400', 1000, 400, 0.32, 259.04, 219.61, 259.04],
  ['generic5000-fake400', 5000, 400, 2.19, 1469.56, 1083.57, 1469.56],
  ['generic20000-fake400', 20000, 400, 11.31, 5981.48, 4192.96, 5088.22],
  ['generic1000-awsCMR-od', 1000, 605, 0.37, 42.86, 26.64, 29.25],
  ['generic5000-awsCMR-od', 5000, 605, 2.05, 200.71, 128.56, 132.12],
  ['generic5000-awsCMRcap32-od', 5000, 338, 11.23, 146.97, 131.5, 142.29],
  ['generic5000-aws7i-od', 5000, 27, 0.9, 179.51, 149.58, 174.75],
  ['mixed500-awsCMR-od', 500, 605, 0.11, 114.92, 79.31, 79.68],
  ['mixed2000-awsCMR-od', 2000, 605, 0.87, 455.55, 327.54, 327.76],
  ['mixed2000-awsCMRcap32-od', 2000, 338, 7.6, 362.11, 326.88, 327.04],
  ['mixed2000-awsCMRcap32-spot', 2000, 518, 10.88, 106.57, 96.41, 96.72],
  ['mixed2000-aws7i-od', 2000, 27, 0.52, 429.56, 375.68, 376.04],
  ['mixed2000-awsFULL', 2000, 1087, 0.97, 1015.08, 50.24, 52.1],
  ['openbcpu-awsCMR-od', 3030, 605, 3.75, 2894.11, 2177.1, 2177.53],
  ['openbgpu-awsGPU-od', 8152, 704, 58.34, 13366.44, 7101.67, 8015.53],
];

/** All figures, in the order of the problems' families. */
export const KARPENTER_FIGURES: readonly KarpenterFigure[] = ROWS.map(
  ([problem, pods, types, seconds, usdPerHour, lowerBound, bestKnown]) => ({
    problem,
    pods,
    types,
    seconds,
    usdPerHour,
    lowerBound,
    ...(bestKnown === undefined ? {} : { bestKnown }),
  }),
);

/** Karpenter's figure on the problem of that name, if it was measured. */
export function karpenterOn(problem: string): KarpenterFigure | undefined {
  return KARPENTER_FIGURES.find((figure) => figure.problem === problem);
}
