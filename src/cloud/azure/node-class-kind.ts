import {
  AZURE_NODE_CLASS_CONDITIONS,
  AZURE_NODE_CLASS_DEFINITION,
  AZURE_NODE_CLASSES,
  type AzureNodeClass,
} from '../../apis/azure/azure-node-class.ts';
import type { NodeClassKind } from '../node-class-kind.ts';

/** The kind of the node classes of Azure. */
export const NODE_CLASS_KIND: NodeClassKind<AzureNodeClass> = {
  resource: AZURE_NODE_CLASSES,
  definition: AZURE_NODE_CLASS_DEFINITION,
  conditions: AZURE_NODE_CLASS_CONDITIONS,
};
