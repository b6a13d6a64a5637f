// The environment of expressions in API objects: Kubernetes' functions and the API's formats.
import { kubernetesEnvironment } from '../../cel/library/kubernetes.ts'
import type { FormatRule } from '../../cel/library/kubernetes/format-functions.ts'
import { hasFormat } from '../validation/formats/value-formats.ts'
import {
  dns1035LabelErrors,
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '../validation/names.ts'

/** The rule for a name prefix: a trailing dash is allowed, because more characters follow. */
const prefix =
  (rule: FormatRule): FormatRule =>
  (text) =>
    rule(text.endsWith('-') && text.length > 1 ? `${text.slice(0, -1)}a` : text)

const formatRule =
  (name: string, message: string): FormatRule =>
  (text) =>
    hasFormat(name, text) ? [] : [message]

const rules: Readonly<Record<string, FormatRule>> = {
  byte: formatRule('byte', 'invalid base64'),
  date: formatRule('date', 'invalid date'),
  datetime: formatRule('date-time', 'invalid datetime'),
  dns1035Label: dns1035LabelErrors,
  dns1035LabelPrefix: prefix(dns1035LabelErrors),
  dns1123Label: dnsLabelErrors,
  dns1123LabelPrefix: prefix(dnsLabelErrors),
  dns1123Subdomain: dnsSubdomainErrors,
  dns1123SubdomainPrefix: prefix(dnsSubdomainErrors),
  labelValue: labelValueErrors,
  qualifiedName: qualifiedNameErrors,
  uri: formatRule('uri', 'invalid URI'),
  uuid: formatRule('uuid', 'does not match the UUID format'),
}

export const apiEnvironment = kubernetesEnvironment(rules)
