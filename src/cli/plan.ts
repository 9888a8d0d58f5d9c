import { SpindriftError } from '../platform/errors.ts';
import { listOption, numberOption, textOption } from '../platform/options.ts';
import { command } from './command.ts';
import { outputOption } from './output-option.ts';

/** `spindrift plan`: what would be launched for manifests, without a cluster. */
export const PLAN = command({
  name: 'plan',
  summary:
    'Says what would be launched for manifests, what it costs, and why some pods have no place. Needs no cluster.',
  usage: '-f FILE [-f FILE…] [options]',
  options: {
    files: listOption({
      flag: 'filename',
      short: 'f',
      placeholder: 'FILE',
      help: 'Manifests: a file of one or more documents, a folder of files, or - for the standard input.',
    }),
    catalog: textOption({
      flag: 'catalog',
      placeholder: 'FILE',
      help: 'A JSON file with InstanceTypes that is sold instead of the built-in list.',
    }),
    seconds: numberOption({
      flag: 'seconds',
      fallback: 2,
      min: 0.1,
      max: 600,
      fractions: true,
      help: 'How long to look for a cheaper plan.',
    }),
    output: outputOption(['table', 'json', 'yaml']),
  },
  run: async ({ values, positionals }, { out }) => {
    const files = [...values.files, ...positionals];
    if (files.length === 0)
      throw new SpindriftError('ARGUMENT_INVALID', {
        command: 'spindrift plan',
        problem: 'no manifests are given: name some with -f, as in -f web.yaml',
      });
    const { plan } = await import('./plan/plan-command.ts');
    const { catalog, seconds, output } = values;
    out(await plan({ files, seconds, output, ...(catalog === undefined ? {} : { catalogFile: catalog }) }));
    return 0;
  },
});
