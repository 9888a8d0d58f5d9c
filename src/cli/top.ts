import { switchOption } from '../platform/options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import { command } from './command.ts';

/** `spindrift top`: the fleet in the terminal. */
export const TOP = command({
  name: 'top',
  summary: 'Shows the fleet live: how full nodes are, their price, and what spot saves.',
  usage: '[options]',
  options: {
    once: switchOption({ flag: 'once', help: 'Prints the fleet once and exits.' }),
    ...CLUSTER_OPTIONS,
  },
  run: async ({ values }, { signal, out }) => {
    const { top } = await import('./top/top-command.ts');
    await top({ ...values, signal, out });
    return 0;
  },
});
