/** The parts of a Spindrift process that launch: the driver with Market and Launcher above it. */
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { Cloud } from '../../../src/cloud/cloud.ts';
import type { EnabledClouds } from '../../../src/cloud/clouds.ts';
import { Launchers } from '../../../src/cloud/launchers.ts';
import type { Machine } from '../../../src/cloud/machine.ts';
import { openedClouds } from '../../../src/cloud/testkit/opened-clouds.ts';
import { UnavailableOfferings } from '../../../src/cloud/unavailable-offerings.ts';
import type { RankedOffering } from '../../../src/engine/solution.ts';
import type { LocalIbm } from './local-ibm.ts';
import type { WirelessOptions } from './wireless.ts';

export interface LaunchingProcess {
  readonly driver: Cloud;
  readonly clouds: EnabledClouds;
  readonly unavailable: UnavailableOfferings;
  /** Launches, and repeats while it is pending, as the claim lifecycle does. */
  launch(claim: NodeClaim, offerings: readonly RankedOffering[], signal?: AbortSignal): Promise<Machine>;
}

const NEVER = new AbortController().signal;
const MOST_QUESTIONS = 100;

export async function launchingProcess(ibm: LocalIbm, wire: WirelessOptions = {}): Promise<LaunchingProcess> {
  const { clock, nodeClass } = ibm;
  const driver = await ibm.driver(wire);
  const unavailable = new UnavailableOfferings({ clock });
  const known = (name: string) => (name === nodeClass.metadata.name ? nodeClass : undefined);
  const clouds = await openedClouds({ cloud: driver, clock, unavailable, nodeClass: known });
  const launchers = new Launchers({ clouds, clock });
  return {
    driver,
    clouds,
    unavailable,
    launch: async (claim, offerings, signal = NEVER) => {
      let wanted = claim;
      for (let question = 0; question < MOST_QUESTIONS; question++) {
        const answer = await launchers.launch(wanted, offerings, signal);
        const annotations = { ...wanted.metadata.annotations, ...answer.annotations };
        wanted = { ...wanted, metadata: { ...wanted.metadata, annotations } };
        if (answer.kind === 'launched') return answer.machine;
        await clock.sleep(answer.askAgainMs, signal);
      }
      throw new Error('the launch stays pending');
    },
  };
}
