{{- define "spindrift.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "spindrift.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 56 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 56 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 56 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "spindrift.agentName" -}}
{{ include "spindrift.fullname" . }}-agent
{{- end }}

{{- define "spindrift.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "spindrift.selectorLabels" -}}
app.kubernetes.io/name: {{ include "spindrift.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "spindrift.labels" -}}
{{ include "spindrift.selectorLabels" . }}
{{ include "spindrift.commonLabels" . }}
{{- end }}

{{- define "spindrift.agentSelectorLabels" -}}
app.kubernetes.io/name: {{ include "spindrift.name" . }}-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "spindrift.agentLabels" -}}
{{ include "spindrift.agentSelectorLabels" . }}
{{ include "spindrift.commonLabels" . }}
{{- end }}

{{- define "spindrift.annotations" -}}
{{- with .Values.additionalAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "spindrift.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "spindrift.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "spindrift.agentServiceAccountName" -}}
{{- default (include "spindrift.agentName" .) .Values.agent.serviceAccount.name }}
{{- end }}

{{- define "spindrift.leaseNamespace" -}}
{{- default .Release.Namespace .Values.settings.leaderElection.namespace }}
{{- end }}

{{- define "spindrift.image" -}}
{{- $image := .Values.controller.image }}
{{- $repository := required "controller.image.repository is required: no image of Spindrift is published yet, so name the one that you built" $image.repository }}
{{- if $image.digest }}
{{- printf "%s@%s" $repository $image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion $image.tag) }}
{{- end }}
{{- end }}

{{- /* Refuses what a schema cannot: values that are needed only because of others. */ -}}
{{- define "spindrift.check" -}}
{{- $values := .Values }}
{{- if not $values.clouds }}{{ fail "clouds is required: name the clouds to serve, as in --set 'clouds={aws}'" }}{{ end }}
{{- if not $values.settings.clusterName }}{{ fail "settings.clusterName is required: machines carry it, so that two clusters in one account leave each other alone" }}{{ end }}
{{- if has "gcp" $values.clouds }}
{{- range $key := list "project" "region" }}
{{- if not (index $values.gcp $key) }}{{ fail (printf "gcp.%s is required because clouds has gcp" $key) }}{{ end }}
{{- end }}
{{- end }}
{{- if has "azure" $values.clouds }}
{{- range $key := list "subscription" "resourceGroup" "location" }}
{{- if not (index $values.azure $key) }}{{ fail (printf "azure.%s is required because clouds has azure" $key) }}{{ end }}
{{- end }}
{{- end }}
{{- if and (has "ibm" $values.clouds) $values.ibm.events.port (not $values.ibm.events.tokenSecret.name) }}
{{- fail "ibm.events.tokenSecret.name is required because ibm.events.port is set: the webhook does not start without a token" }}
{{- end }}
{{- if and $values.controller.profiling (not $values.controller.metrics.authentication) (ne $values.controller.metrics.host "127.0.0.1") }}
{{- fail "controller.metrics.authentication must be true, or controller.metrics.host 127.0.0.1, because controller.profiling is set" }}
{{- end }}
{{- if and (not $values.settings.leaderElection.enabled) (gt (int $values.replicas) 1) }}
{{- fail "replicas must be 1 when settings.leaderElection.enabled is false: two would both act" }}
{{- end }}
{{- end }}

{{- /* The variables of a list of [name, value], without those whose value is empty. */ -}}
{{- define "spindrift.variables" -}}
{{- range . }}
{{- $value := toString (index . 1) }}
{{- if not (or (kindIs "invalid" (index . 1)) (eq $value "")) }}
- name: {{ index . 0 }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Terms (pod affinity, spread) with the labels of the replicas where they have no selector. */ -}}
{{- define "spindrift.withSelector" -}}
{{- $labels := include "spindrift.selectorLabels" .context | fromYaml }}
{{- $terms := list }}
{{- range .terms }}
{{- $terms = append $terms (merge (deepCopy .) (hasKey . "labelSelector" | ternary dict (dict "labelSelector" (dict "matchLabels" $labels)))) }}
{{- end }}
{{- toYaml $terms }}
{{- end }}
