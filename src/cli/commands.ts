import { AGENT } from './agent.ts';
import { AWS } from './aws.ts';
import type { Command } from './command.ts';
import { DOCTOR } from './doctor.ts';
import { PLAN } from './plan.ts';
import { RUN } from './run.ts';
import { SIM } from './sim.ts';
import { TOP } from './top.ts';
import { UP } from './up.ts';
import { WHY } from './why.ts';

/** Every command, in the order help lists them. */
export const COMMANDS: readonly Command[] = [UP, RUN, AGENT, PLAN, WHY, TOP, DOCTOR, SIM, AWS];
