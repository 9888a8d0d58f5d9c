import { SpindriftError } from '../platform/errors.ts';
import { listOption, numberOption, switchOption, textOption } from '../platform/options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import { command } from './command.ts';
import { outputOption } from './output-option.ts';

/** `spindrift plan`: the nodes that manifests would need, without a cluster, or how a cluster would be consolidated. */
export const PLAN = command({
  name: 'plan',
  summary:
    'Shows which nodes would be launched for manifests, their price, and why pods are unschedulable; or how a cluster would be consolidated. Changes nothing.',
  usage: '-f FILE [-f FILE…] [options] | --consolidate [options]',
  takesWords: true,
  exitCodes: { 2: 'a plan for manifests leaves pods unschedulable' },
  options: {
    files: listOption({
      flag: 'filename',
      short: 'f',
      placeholder: 'FILE',
      help: 'A manifest file, a folder of them, or - for standard input.',
    }),
    consolidate: switchOption({
      flag: 'consolidate',
      help: 'Shows which nodes of a cluster consolidation would remove, what that saves, and why the other nodes stay.',
    }),
    catalog: textOption({
      flag: 'catalog',
      placeholder: 'FILE',
      help: 'A JSON file of InstanceTypes to use instead of the built-in list.',
    }),
    region: textOption({
      flag: 'region',
      placeholder: 'REGION',
      help: 'The region of the built-in catalogue and prices, such as us-west-2, for clouds whose node classes do not name one.',
    }),
    seconds: numberOption({
      flag: 'seconds',
      fallback: 2,
      min: 0.1,
      max: 600,
      fractions: true,
      help: 'How long to search for a cheaper plan.',
    }),
    ...CLUSTER_OPTIONS,
    output: outputOption(['table', 'json', 'yaml']),
  },
  run: async ({ values, positionals }, { out, signal }) => {
    const files = [...values.files, ...positionals];
    if (values.consolidate) {
      if (files.length > 0)
        throw new SpindriftError('ARGUMENT_INVALID', {
          command: 'spindrift plan',
          problem: '--consolidate plans for a live cluster, -f for manifests: give only one of them',
        });
      if (values.catalog !== undefined)
        throw new SpindriftError('ARGUMENT_INVALID', {
          command: 'spindrift plan',
          problem:
            '--catalog cannot be used with --consolidate: the node classes of the cluster decide the instance types',
        });
      const { planConsolidation } = await import('./plan/consolidate-command.ts');
      out(await planConsolidation(values, signal));
      return 0;
    }
    if (files.length === 0)
      throw new SpindriftError('ARGUMENT_INVALID', {
        command: 'spindrift plan',
        problem: 'give manifests with -f, as in -f web.yaml',
      });
    const { plan } = await import('./plan/plan-command.ts');
    const { catalog, region, seconds, output } = values;
    const catalogFile = catalog === undefined ? {} : { catalogFile: catalog };
    const made = await plan({ files, seconds, output, ...catalogFile, ...(region === undefined ? {} : { region }) });
    out(made.text);
    return made.code;
  },
});
