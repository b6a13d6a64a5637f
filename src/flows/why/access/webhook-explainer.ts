// Explains webhook configurations whose webhooks cannot be called: their Service is missing, or has no such port or no ready
// endpoint. A webhook that fails closed rejects every request that it matches.
import { lookup } from '../../../base/collections/lookup.ts'
import {
  mutatingWebhookConfiguration,
  type MutatingWebhookConfiguration,
} from '../../../api/admissionregistration/v1/mutating-webhook-configuration.ts'
import {
  validatingWebhookConfiguration,
  type ValidatingWebhook,
  type ValidatingWebhookConfiguration,
} from '../../../api/admissionregistration/v1/validating-webhook-configuration.ts'
import type { ServiceReference } from '../../../api/admissionregistration/v1/webhook-client-config.ts'
import { service } from '../../../api/core/v1/service/service.ts'
import { serviceNameLabel } from '../../../api/discovery/v1/endpoint-slice-labels.ts'
import { endpointSlice } from '../../../api/discovery/v1/endpoint-slice.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { defineExplainer, namesText } from '../explainer/explainer.ts'
import { critical, warning, type Finding } from '../explainer/finding.ts'
import { jsonPatch } from '../explainer/fix-command.ts'

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration
type Webhook = Pick<ValidatingWebhook, 'name' | 'clientConfig' | 'failurePolicy' | 'rules'>

const checked = 'the Services of its webhooks and their endpoints'

export const validatingWebhookExplainer = defineExplainer({
  kind: validatingWebhookConfiguration,
  checked,
  explain: (object, cluster) => webhookFindings('validatingwebhookconfiguration', object, cluster),
})

export const mutatingWebhookExplainer = defineExplainer({
  kind: mutatingWebhookConfiguration,
  checked,
  explain: (object, cluster) => webhookFindings('mutatingwebhookconfiguration', object, cluster),
})

async function webhookFindings(resource: string, object: Configuration, cluster: ClusterReader): Promise<Finding[]> {
  const webhooks: readonly Webhook[] = object.webhooks ?? []
  const findings: Finding[] = []
  for (const [index, webhook] of webhooks.entries()) {
    const { service: target } = webhook.clientConfig
    const problem = target === undefined ? undefined : await unreachable(target, cluster)
    if (problem === undefined) continue
    const text = `Its webhook ${webhook.name} cannot be called: ${problem}.`
    const path = `/webhooks/${index}/failurePolicy`
    findings.push(
      webhook.failurePolicy === 'Ignore'
        ? warning(`${text} Its failure policy is Ignore, so it is skipped.`)
        : critical(
            `${text} Its failure policy is Fail, so every request that it matches is rejected: ${matchedText(webhook)}.`,
            { fix: jsonPatch(`${resource}/${object.metadata.name}`, '', { op: 'replace', path, value: 'Ignore' }) },
          ),
    )
  }
  return findings
}

/** Why requests to the Service fail; undefined where an endpoint is ready. */
async function unreachable(
  { namespace, name, port }: ServiceReference,
  cluster: ClusterReader,
): Promise<string | undefined> {
  const title = `the Service ${namespace}/${name}`
  const found = await cluster.find(service, namespace, name)
  if (found === undefined)
    return (await isMissing(cluster, service, namespace, name)) ? `${title} does not exist` : undefined
  const ports = found.spec.ports ?? []
  if (!ports.some((each) => each.port === port))
    return `${title} has no port ${port}; it has ${ports.map((each) => String(each.port)).join(', ') || 'none'}`
  if (found.spec.type === 'ExternalName') return undefined
  const slices = (await cluster.list(endpointSlice, namespace)).filter(
    ({ metadata }) => lookup(metadata.labels, serviceNameLabel) === name,
  )
  const hasReady = slices.some(({ endpoints }) => (endpoints ?? []).some(({ conditions }) => conditions.ready ?? true))
  return hasReady ? undefined : `${title} has no ready endpoint: see coxswain why service/${name} -n ${namespace}`
}

/** `CREATE of pods; UPDATE of deployments.apps` */
const matchedText = ({ rules = [] }: Webhook): string =>
  rules
    .map(({ operations = [], resources = [], apiGroups = [] }) => {
      const named = resources.flatMap((resource) =>
        apiGroups.map((group) => (group === '' || group === '*' ? resource : `${resource}.${group}`)),
      )
      return `${operations.join(', ')} of ${namesText(named)}`
    })
    .join('; ') || 'none'
