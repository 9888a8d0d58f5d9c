/** IBM Cloud, enabled by `--cloud ibm`. The driver itself is loaded only then. */
import { IBM_GROUP } from '../../apis/ibm/labels.ts';
import type { CloudModule } from '../cloud-module.ts';
import { IBM_OPTIONS, type IbmOptions } from './options.ts';

export const IBM_CLOUD: CloudModule = {
  name: 'ibm',
  kind: { group: IBM_GROUP, kind: 'IBMNodeClass' },
  options: IBM_OPTIONS,
  async load(values) {
    const [{ IBM_NODE_CLASS_KIND }, { IBM_LABELS }, { openIbmCloud, serviceOpener }] = await Promise.all([
      import('./node-class/ibm-node-class-kind.ts'),
      import('./cloud-labels.ts'),
      import('./open-ibm-cloud.ts'),
    ]);
    const options = values as IbmOptions;
    return {
      name: 'ibm',
      nodeClass: IBM_NODE_CLASS_KIND,
      labels: IBM_LABELS,
      open: async (world) => openIbmCloud(world, options, await serviceOpener(options)),
    };
  },
};
