/** Runs `spindrift top`: watches the cluster and draws it until the user quits. */
import { styleText } from 'node:util';
import type { StateNode } from '../../state/state-node.ts';
import { type ClusterChoice, type WatchedCluster, withWatchedCluster } from '../live-cluster.ts';
import type { OfflineClouds } from '../offline-clouds.ts';
import { marketPrices } from '../why/market-prices.ts';
import type { PriceLookup } from '../why/node-why.ts';
import { type FleetView, fleetView } from './fleet-view.ts';
import { frame, wholeFleet } from './frame.ts';
import { wishOf } from './keys.ts';
import type { Paint, Tone } from './paint.ts';
import { Screen } from './screen.ts';

/** Options of `spindrift top`. */
export interface TopOptions extends ClusterChoice {
  readonly once: boolean;
  readonly signal: AbortSignal;
  out(text: string): void;
}

/** The used part of a terminal's input. */
export interface Keyboard {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: 'data', listener: (data: Buffer) => void): unknown;
  off(event: 'data', listener: (data: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

const REDRAWN_MS = 500;
const COLOURS = { good: 'green', fair: 'yellow', poor: 'red', dim: 'gray', strong: 'bold' } as const;

/** Shows the fleet live; with `once`, or without a terminal, prints it and returns. */
export async function top(options: TopOptions): Promise<void> {
  const { once, signal, out } = options;
  const { stdout, stdin } = process;
  // `styleText` looks at the stream, and at NO_COLOR and FORCE_COLOR.
  const paint: Paint = (tone: Tone, text) => (text === '' ? '' : styleText(COLOURS[tone], text, { stream: stdout }));
  await withWatchedCluster(options, signal, async (cluster) => {
    const view = viewer(cluster);
    if (once || !stdout.isTTY) out(wholeFleet(view(), { width: stdout.columns ?? 200, paint }));
    else await draw(view, cluster, paint, stdin, signal);
  });
}

async function draw(
  view: () => FleetView,
  { clock }: WatchedCluster,
  paint: Paint,
  keyboard: Keyboard,
  signal: AbortSignal,
): Promise<void> {
  const screen = new Screen(process.stdout);
  const quit = new AbortController();
  const ending = AbortSignal.any([signal, quit.signal]);
  let first = 0;
  const show = (): void => {
    const made = frame(view(), { width: screen.width, height: screen.height, paint }, first);
    first = made.first;
    screen.draw(made.lines);
  };
  const press = (data: Buffer): void => {
    const wish = wishOf(data.toString());
    if (wish?.kind === 'quit') quit.abort();
    if (wish?.kind !== 'scroll') return;
    first = Math.max(0, first + wish.by);
    show();
  };
  const resize = (): void => {
    screen.resized();
    show();
  };
  screen.enter();
  keyboard.setRawMode?.(true);
  keyboard.resume();
  keyboard.on('data', press);
  process.stdout.on('resize', resize);
  try {
    while (!ending.aborted) {
      show();
      await clock.sleep(REDRAWN_MS, ending).catch(() => {});
    }
  } finally {
    process.stdout.off('resize', resize);
    keyboard.off('data', press);
    keyboard.setRawMode?.(false);
    keyboard.pause();
    screen.leave();
  }
}

/** Builds the view from the caches on each call; offerings are rebuilt only when a node class has changed. */
function viewer(cluster: WatchedCluster): () => FleetView {
  const { state, clock } = cluster;
  let market: { readonly of: string; readonly market: OfflineClouds } | undefined;
  const currentMarket = (): OfflineClouds => {
    const nodeClasses = cluster.nodeClasses();
    const of = nodeClasses.map(({ metadata }) => `${metadata.name}@${metadata.generation}`).join();
    if (market?.of !== of) market = { of, market: cluster.clouds.market({ now: clock.now(), nodeClasses }) };
    return market.market;
  };
  const pricesFor = ({ claim }: StateNode): PriceLookup => {
    const nodeClass = claim?.spec.nodeClassRef;
    return (offering) => marketPrices(currentMarket(), nodeClass)(offering);
  };
  return () =>
    fleetView({
      now: clock.now(),
      nodes: state.nodes(),
      podsOn: (node) => state.podsOn(node),
      pods: state.informers.pods.list(),
      buffers: state.informers.capacityBuffers.list(),
      pricesFor,
    });
}
