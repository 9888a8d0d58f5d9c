/** CustomResourceDefinitions, aggregated APIs and admission. Only definitions and validating policies have an effect. */

import { builtIn } from './built-in.ts';
import { CREATED_AT } from './columns/core-columns.ts';
import {
  ADMISSION_POLICY_BINDING_COLUMNS,
  ADMISSION_POLICY_COLUMNS,
  API_SERVICE_COLUMNS,
  WEBHOOK_COLUMNS,
} from './columns/policy-columns.ts';
import type { Kind } from './kind.ts';
import { definitionRules } from './rules/definition-rules.ts';

export const EXTENSION_KINDS: readonly Kind[] = [
  builtIn('apiregistration.k8s.io/v1', 'APIService', 'apiservices', 'cluster', {
    categories: ['api-extensions'],
    columns: API_SERVICE_COLUMNS,
    status: true,
    rules: { name: 'path' },
  }),
  builtIn('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'cluster', {
    shortNames: ['crd', 'crds'],
    columns: CREATED_AT,
    categories: ['api-extensions'],
    status: true,
    generation: true,
    rules: definitionRules,
  }),
  builtIn(
    'admissionregistration.k8s.io/v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    'cluster',
    {
      columns: WEBHOOK_COLUMNS,
      categories: ['api-extensions'],
      generation: true,
    },
  ),
  builtIn(
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
    'cluster',
    { columns: WEBHOOK_COLUMNS, categories: ['api-extensions'], generation: true },
  ),
  builtIn('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', 'cluster', {
    columns: ADMISSION_POLICY_COLUMNS,
    categories: ['api-extensions'],
    status: true,
    generation: true,
  }),
  builtIn(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    'cluster',
    { columns: ADMISSION_POLICY_BINDING_COLUMNS, categories: ['api-extensions'], generation: true },
  ),
];
