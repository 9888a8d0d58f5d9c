import { SpindriftError } from '../platform/errors.ts';
import { textOption } from '../platform/options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import { command } from './command.ts';
import { outputOption } from './output-option.ts';

/** `spindrift why`: the reasons behind a pod without a place, or a node. */
export const WHY = command({
  name: 'why',
  summary: 'Says why a pod has no place and what to change, or why a node is what it is.',
  usage: 'pod/NAME|node/NAME [options]',
  options: {
    namespace: textOption({
      flag: 'namespace',
      short: 'n',
      placeholder: 'NAME',
      help: 'The namespace of the pod; that of the context when not given.',
    }),
    ...CLUSTER_OPTIONS,
    output: outputOption(['text', 'json']),
  },
  run: async ({ values, positionals }, { signal, out }) => {
    const target = readTarget(positionals);
    const { why } = await import('./why/why-command.ts');
    out(await why(target, values, signal));
    return 0;
  },
});

/** `pod/web-1`, `po/web-1`, `pod web-1`, and the same for nodes and claims. */
function readTarget(positionals: readonly string[]): { readonly kind: 'pod' | 'node'; readonly name: string } {
  const [word = '', name] = positionals.length === 1 ? (positionals[0] ?? '').split('/') : positionals;
  const kinds: Readonly<Record<string, 'pod' | 'node'>> = {
    ...{ pod: 'pod', pods: 'pod', po: 'pod' },
    ...{ node: 'node', nodes: 'node', no: 'node', nodeclaim: 'node', nodeclaims: 'node' },
  };
  const kind = kinds[word];
  if (kind !== undefined && name !== undefined && name !== '') return { kind, name };
  throw new SpindriftError('ARGUMENT_INVALID', {
    command: 'spindrift why',
    problem: 'say what about, as in pod/web-1 or node/general-x7k2p',
  });
}
