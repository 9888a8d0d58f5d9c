import { SpindriftError } from '../platform/errors.ts';
import { hint } from '../platform/nearest.ts';
import { durationOption, numberOption, textOption } from '../platform/options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import { command } from './command.ts';
import type { SimAction } from './sim/sim-command.ts';

const ACTIONS = ['interrupt', 'exhaust', 'restore', 'price'] as const;

/** `spindrift sim`: makes trouble in the simulated cloud. */
export const SIM = command({
  name: 'sim',
  summary: 'Makes trouble in the simulated cloud: interrupts machines, exhausts and restores capacity, changes prices.',
  usage: 'interrupt NODE… | exhaust OFFERINGS… | restore OFFERINGS… | price OFFERINGS… --factor N',
  takesWords: true,
  options: {
    noticeMs: durationOption({
      flag: 'notice',
      fallback: '120s',
      help: 'interrupt: the notice before the machine is taken; 0s takes it at once.',
    }),
    factor: numberOption({
      flag: 'factor',
      fallback: 2,
      min: 0,
      max: 1000,
      fractions: true,
      help: 'price: multiplies the price of the offerings.',
    }),
    nodeClass: textOption({
      flag: 'node-class',
      placeholder: 'NAME',
      help: 'exhaust, restore, price: the SimulatedNodeClass to change; optional while there is only one.',
    }),
    ...CLUSTER_OPTIONS,
  },
  run: async ({ values, positionals }, { out }) => {
    const action = readAction(positionals, values);
    const { sim } = await import('./sim/sim-command.ts');
    out(await sim(action, values));
    return 0;
  },
});

function readAction(
  [word = '', ...rest]: readonly string[],
  { noticeMs, factor }: { readonly noticeMs: number; readonly factor: number },
): SimAction {
  const kind = ACTIONS.find((known) => known === word);
  const refuse = (problem: string): SpindriftError =>
    new SpindriftError('ARGUMENT_INVALID', { command: 'spindrift sim', problem });
  if (kind === undefined) throw refuse(`say what to do: ${ACTIONS.join(', ')}${hint(word, ACTIONS)}`);
  if (kind === 'interrupt') {
    if (rest.length === 0) throw refuse('name the nodes to interrupt, as in interrupt general-x7k2p');
    return { kind, nodes: rest, noticeMs };
  }
  if (rest.length === 0) throw refuse(`name some offerings, as in ${kind} spot:m5.large:sim-1a or ${kind} spot`);
  return kind === 'price' ? { kind, offerings: rest, factor } : { kind, offerings: rest };
}
