import { isInFlight, labelsOf } from '../../state/state-node.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import type { InformedController } from '../informed-controller.ts';
import { periodicController } from '../periodic-controller.ts';
import type { RiskKeeper } from './risk-keeper.ts';
import { spotPoolOf } from './spot-pool-of.ts';

const PERIOD_MS = 60_000;

/** Reports the running spot nodes to the risk model every minute: exposure without interruption lowers a rate. */
export function riskWatch(options: ControllersOptions & { readonly risk: RiskKeeper }): InformedController {
  return periodicController(options, 'spotpolicy.risk', PERIOD_MS, async () => {
    const launched = options.state.nodes().filter((node) => !isInFlight(node));
    options.risk.watch(launched.flatMap((node) => spotPoolOf(labelsOf(node)) ?? []));
  });
}
