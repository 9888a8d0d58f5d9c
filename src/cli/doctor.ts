import { SpindriftError } from '../platform/errors.ts';
import { switchOption, textOption } from '../platform/options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import { command } from './command.ts';
import { CONTROLLER_OPTIONS } from './controller-options.ts';
import { METRICS_OPTIONS } from './metrics-options.ts';
import { outputOption } from './output-option.ts';

/** `spindrift doctor`: finds what is wrong with an installation, and how to mend it. */
export const DOCTOR = command({
  name: 'doctor',
  summary:
    'Checks an installation: permissions, definitions, cloud credentials, interruption signals, clocks, admission, other autoscalers.',
  usage: '[options]',
  exitCodes: { 2: 'when a check failed' },
  options: {
    ...CLUSTER_OPTIONS,
    serviceAccount: textOption({
      flag: 'service-account',
      placeholder: 'NAMESPACE/NAME',
      help: 'The service account whose permissions are checked, such as kube-system/spindrift; the user of the kubeconfig when not given.',
    }),
    strict: switchOption({ flag: 'strict', help: 'Warnings count as failures.' }),
    output: outputOption(['text', 'json']),
    ...CONTROLLER_OPTIONS,
    metricsAuthentication: METRICS_OPTIONS.metricsAuthentication,
  },
  run: async ({ values }, { signal, out }) => {
    const { doctor } = await import('./doctor/doctor-command.ts');
    const clouds = values.cloud.split(',').map((name) => name.trim());
    const serviceAccount = values.serviceAccount === undefined ? undefined : readAccount(values.serviceAccount);
    const { printed, code } = await doctor({ ...values, clouds, serviceAccount, cloudOptions: values }, signal);
    out(printed);
    return code;
  },
});

function readAccount(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = '', ...more] = text.split('/');
  if (namespace !== '' && name !== '' && more.length === 0) return { namespace, name };
  const allowed = 'a namespace and a name, such as kube-system/spindrift';
  throw new SpindriftError('OPTION_INVALID', { option: '--service-account', value: text, allowed });
}
