import { textOption } from '../platform/options.ts';

/** Which cluster a command talks to. */
export const CLUSTER_OPTIONS = {
  kubeconfig: textOption({
    flag: 'kubeconfig',
    placeholder: 'FILE',
    help: 'The cluster to talk to; $KUBECONFIG or ~/.kube/config when not given.',
  }),
  context: textOption({
    flag: 'context',
    placeholder: 'NAME',
    help: 'The context of the kubeconfig to use; its current context when not given.',
  }),
};
