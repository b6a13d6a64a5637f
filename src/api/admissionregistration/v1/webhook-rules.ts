// Rules that mutating and validating webhooks share: names, client configuration and review versions.
import { splitUrl } from '../../../base/text/split-url.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import { webhookEnvironment } from '../../expressions/admission-environment.ts'
import { duplicate, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import type { LabelSelector } from '../../meta/v1/label-selector.ts'
import { dns1035LabelErrors, dnsSubdomainErrors } from '../../validation/names.ts'
import { portErrors } from '../../validation/network-rules.ts'
import { validateMatchConditions, validateRule } from './match-resources-rules.ts'
import type { MatchCondition, RuleWithOperations } from './match-resources.ts'
import type { ServiceReference, WebhookClientConfig } from './webhook-client-config.ts'

export interface Webhook {
  readonly name: string
  readonly clientConfig: WebhookClientConfig
  readonly rules?: readonly RuleWithOperations[]
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
  readonly sideEffects?: string
  readonly timeoutSeconds: number
  readonly admissionReviewVersions?: readonly string[]
  readonly matchConditions?: readonly MatchCondition[]
}

const timeoutSecondsMax = 30
const reviewVersions = ['v1', 'v1beta1']
/** The published type allows more values, but a webhook with side effects would break dry runs. */
const sideEffectsAllowed = ['None', 'NoneOnDryRun']
const urlForm = '; desired format: https://host[/path]'

export function validateWebhooks(webhooks: readonly Webhook[]): FieldError[] {
  const names = new Set<string>()
  return webhooks.flatMap((webhook, index) => {
    const path = `webhooks[${index}]`
    const { name, admissionReviewVersions = [] } = webhook
    const errors = [
      ...validateWebhook(webhook, path),
      ...validateReviewVersions(admissionReviewVersions, `${path}.admissionReviewVersions`),
    ]
    if (name !== '' && names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
    return errors
  })
}

function validateWebhook(webhook: Webhook, path: string): FieldError[] {
  const { name, rules = [], sideEffects, timeoutSeconds, matchConditions = [] } = webhook
  const errors = [
    ...validateFullName(name, `${path}.name`),
    ...rules.flatMap((rule, index) => validateRule(rule, `${path}.rules[${index}]`)),
  ]
  if (sideEffects === undefined)
    errors.push(required(`${path}.sideEffects`, `must specify one of ${sideEffectsAllowed.join(', ')}`))
  else if (!sideEffectsAllowed.includes(sideEffects))
    errors.push(notSupported(`${path}.sideEffects`, sideEffects, sideEffectsAllowed))
  if (timeoutSeconds < 1 || timeoutSeconds > timeoutSecondsMax)
    errors.push(
      invalid(
        `${path}.timeoutSeconds`,
        timeoutSeconds,
        `the timeout value must be between 1 and ${timeoutSecondsMax} seconds`,
      ),
    )
  return [
    ...errors,
    ...validateLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(webhook.objectSelector, `${path}.objectSelector`),
    ...validateWebhookClient(webhook.clientConfig, `${path}.clientConfig`),
    ...validateMatchConditions(matchConditions, `${path}.matchConditions`, webhookEnvironment),
  ]
}

function validateFullName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)]
  const details = dnsSubdomainErrors(name)
  if (details.length > 0) return [invalid(path, name, details.join(','))]
  return name.split('.').length < 3
    ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')]
    : []
}

export function validateReviewVersions(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(', ')}`)]
  const repeated = areRepeated(versions)
  const errors = versions.flatMap((version, index) =>
    repeated[index]
      ? [invalid(`${path}[${index}]`, version, 'duplicate version')]
      : dns1035LabelErrors(version).map((detail) => invalid(`${path}[${index}]`, version, detail)),
  )
  if (!versions.some((version) => reviewVersions.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`))
  return errors
}

/** A webhook is reached by either a URL or a Service. */
export function validateWebhookClient({ url, service }: WebhookClientConfig, path: string): FieldError[] {
  if (url !== undefined && service === undefined) return validateUrl(url, `${path}.url`)
  if (service !== undefined && url === undefined) return validateService(service, `${path}.service`)
  return [required(path, 'exactly one of url or service is required')]
}

function validateUrl(url: string, path: string): FieldError[] {
  const { scheme, user, host = '', query, fragment } = splitUrl(url)
  const errors: FieldError[] = []
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${urlForm}`))
  if (host === '') errors.push(invalid(path, '', `host must be specified${urlForm}`))
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'))
  if (fragment !== '') errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'))
  if (query !== '') errors.push(invalid(path, query, 'query parameters are not permitted in the URL'))
  return errors
}

/** Upstream confuses the name and the namespace: its error for one has the path of the other. */
function validateService({ name, namespace, path: urlPath = '', port }: ServiceReference, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (namespace === '') errors.push(required(`${path}.name`))
  if (name === '') errors.push(required(`${path}.namespace`))
  const details = portErrors(port)
  if (details.length > 0) errors.push(invalid(`${path}.port`, port, `port is not valid: ${details.join(',')}`))
  return [...errors, ...validateUrlPath(urlPath, `${path}.path`)]
}

function validateUrlPath(urlPath: string, path: string): FieldError[] {
  if (urlPath === '' || urlPath === '/') return []
  const reject = (detail: string) => invalid(path, urlPath, detail)
  if (urlPath === '//') return [reject('segment[0] may not be empty')]
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/')
  return [
    ...(urlPath.startsWith('/') ? [] : [reject("must start with a '/'")]),
    ...segments.flatMap((segment, index) =>
      segment === ''
        ? [reject(`segment[${index}] may not be empty`)]
        : dnsSubdomainErrors(segment).map((detail) => reject(`segment[${index}]: ${detail}`)),
    ),
  ]
}
