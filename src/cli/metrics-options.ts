import { choiceOption, numberOption, switchOption, textOption } from '../platform/options.ts';

/** Options of the metrics server. */
export const METRICS_OPTIONS = {
  metricsPort: numberOption({
    flag: 'metrics-port',
    env: 'METRICS_PORT',
    fallback: 8080,
    min: 0,
    max: 65535,
    help: 'The port of /metrics.',
  }),
  metricsHost: textOption({
    flag: 'metrics-host',
    env: 'METRICS_HOST',
    placeholder: 'ADDRESS',
    help: 'The address of /metrics; that of --host when not given. 127.0.0.1 serves this machine or pod alone.',
  }),
  metricsTlsCertFile: textOption({
    flag: 'metrics-tls-cert-file',
    env: 'METRICS_TLS_CERT_FILE',
    placeholder: 'FILE',
    help: 'A PEM certificate to serve metrics over HTTPS; read again when it changes.',
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
    help: 'With token, a request needs a token of the cluster (TokenReview) whose user may get the path (SubjectAccessReview); with none, everyone can read metrics.',
  }),
  enableProfiling: switchOption({
    flag: 'enable-profiling',
    env: 'ENABLE_PROFILING',
    help: 'Serves /debug/profile and /debug/heap beside the metrics. Outside loopback this needs --metrics-authentication token.',
  }),
};
