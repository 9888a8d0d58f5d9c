import { SpindriftError } from '../platform/errors.ts';
import { textOption } from '../platform/options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import { command } from './command.ts';
import { outputOption } from './output-option.ts';

/** `spindrift why`: why a pod is pending, or why a node exists. */
export const WHY = command({
  name: 'why',
  summary: 'Explains why a pod is pending and what to change, or why a node was chosen and why it stays.',
  usage: 'pod/NAME|node/NAME [options]',
  takesWords: true,
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

const KINDS: Readonly<Record<string, 'pod' | 'node'>> = {
  ...{ pod: 'pod', pods: 'pod', po: 'pod' },
  ...{ node: 'node', nodes: 'node', no: 'node', nodeclaim: 'node', nodeclaims: 'node' },
};

/** `pod/web-1`, `po/web-1`, `pod web-1`, and the same for nodes and claims. */
function readTarget(positionals: readonly string[]): { readonly kind: 'pod' | 'node'; readonly name: string } {
  const [first = '', second, ...more] = positionals;
  const slash = first.indexOf('/');
  const word = slash < 0 ? first : first.slice(0, slash);
  const name = slash < 0 ? (second ?? '') : first.slice(slash + 1);
  const refuse = (problem: string): SpindriftError =>
    new SpindriftError('ARGUMENT_INVALID', { command: 'spindrift why', problem });
  if (more.length > 0 || (slash >= 0 && second !== undefined))
    throw refuse('it explains one pod or node at a time: name one, as in pod/web-1');
  if (name.includes('/')) throw refuse(`write the namespace with -n, as in ${word}/web-1 -n default`);
  const kind = KINDS[word];
  if (kind !== undefined && name !== '') return { kind, name };
  const what =
    kind === undefined && name !== '' ? `it explains pods and nodes, not ${word}: name one` : 'name a pod or node';
  throw refuse(`${what}, as in pod/web-1 or node/general-x7k2p`);
}
