import { choiceOption, numberOption, switchOption, textOption } from '../platform/options.ts';

/** Where metrics and profiles are served, and to whom. */
export const METRICS_OPTIONS = {
  metricsPort: numberOption({
    flag: 'metrics-port',
    env: 'METRICS_PORT',
    fallback: 8080,
    min: 0,
    max: 65535,
    help: 'Where metrics are served.',
  }),
  metricsHost: textOption({
    flag: 'metrics-host',
    env: 'METRICS_HOST',
    placeholder: 'ADDRESS',
    help: 'The address that metrics are served on, when it is not that of --host; 127.0.0.1 for this machine, or pod, alone.',
  }),
  metricsTlsCertFile: textOption({
    flag: 'metrics-tls-cert-file',
    env: 'METRICS_TLS_CERT_FILE',
    placeholder: 'FILE',
    help: 'A certificate in PEM: metrics are served over HTTPS. It is read again when it changes.',
  }),
  metricsTlsKeyFile: textOption({
    flag: 'metrics-tls-key-file',
    env: 'METRICS_TLS_KEY_FILE',
    placeholder: 'FILE',
    help: 'The key of that certificate.',
  }),
  metricsAuthentication: choiceOption({
    flag: 'metrics-authentication',
    env: 'METRICS_AUTHENTICATION',
    choices: ['none', 'token'],
    fallback: 'none',
    help: 'Who may read metrics: all, or whoever sends a token of the cluster (TokenReview) and may get the path (SubjectAccessReview).',
  }),
  enableProfiling: switchOption({
    flag: 'enable-profiling',
    env: 'ENABLE_PROFILING',
    help: 'Serves /debug/profile and /debug/heap beside the metrics. On another address than loopback it needs token authentication.',
  }),
};
