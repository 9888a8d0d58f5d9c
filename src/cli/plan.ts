import { SpindriftError } from '../platform/errors.ts';
import { listOption, numberOption, switchOption, textOption } from '../platform/options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import { command } from './command.ts';
import { outputOption } from './output-option.ts';

/** `spindrift plan`: what would be launched for manifests, without a cluster, or how a cluster would be consolidated. */
export const PLAN = command({
  name: 'plan',
  summary:
    'Says what would be launched for manifests, what it costs, and why some pods have no place; or which nodes of a cluster would be consolidated. Changes nothing.',
  usage: '-f FILE [-f FILE…] [options] | --consolidate [options]',
  takesWords: true,
  exitCodes: { 2: 'a plan for manifests leaves pods without a place' },
  options: {
    files: listOption({
      flag: 'filename',
      short: 'f',
      placeholder: 'FILE',
      help: 'Manifests: a file of one or more documents, a folder of files, or - for the standard input.',
    }),
    consolidate: switchOption({
      flag: 'consolidate',
      help: 'Says which nodes of a cluster would go, what that saves, and why the others stay.',
    }),
    catalog: textOption({
      flag: 'catalog',
      placeholder: 'FILE',
      help: 'A JSON file with InstanceTypes that is sold instead of the built-in list.',
    }),
    region: textOption({
      flag: 'region',
      placeholder: 'REGION',
      help: 'The region whose built-in catalogue and prices are used, for clouds whose node classes do not name one, as in us-west-2.',
    }),
    seconds: numberOption({
      flag: 'seconds',
      fallback: 2,
      min: 0.1,
      max: 600,
      fractions: true,
      help: 'How long to look for a cheaper plan.',
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
          problem: 'manifests are for clusters that do not exist: leave out --consolidate, or the files',
        });
      if (values.catalog !== undefined)
        throw new SpindriftError('ARGUMENT_INVALID', {
          command: 'spindrift plan',
          problem: 'a cluster sells what its node classes say: leave out --catalog, or --consolidate',
        });
      const { planConsolidation } = await import('./plan/consolidate-command.ts');
      out(await planConsolidation(values, signal));
      return 0;
    }
    if (files.length === 0)
      throw new SpindriftError('ARGUMENT_INVALID', {
        command: 'spindrift plan',
        problem: 'no manifests are given: name some with -f, as in -f web.yaml',
      });
    const { plan } = await import('./plan/plan-command.ts');
    const { catalog, region, seconds, output } = values;
    const catalogFile = catalog === undefined ? {} : { catalogFile: catalog };
    const made = await plan({ files, seconds, output, ...catalogFile, ...(region === undefined ? {} : { region }) });
    out(made.text);
    return made.code;
  },
});
