// Explains why an Ingress does not serve requests: its class, its Services and their ports and endpoints, its Secrets.
import { lookup } from '../../../base/collections/lookup.ts'
import { secret } from '../../../api/core/v1/secret.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { ingressClass } from '../../../api/networking/v1/ingress-class.ts'
import { ingress, type Ingress } from '../../../api/networking/v1/ingress.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { defineExplainer } from '../explainer/explainer.ts'
import { problem, type Finding } from '../explainer/finding.ts'
import { jsonPatch, kubectl, mergePatch } from '../explainer/fix-command.ts'
import { backendFindings, portText } from './backend-service.ts'

export const ingressExplainer = defineExplainer({
  kind: ingress,
  checked: 'its class, its address, its Services with their endpoints, and its Secrets',
  async explain(object, cluster) {
    const addresses = object.status.loadBalancer?.ingress ?? []
    return [
      ...(addresses.length === 0 ? [problem('No ingress controller has assigned an address.')] : []),
      ...(await classFindings(object, cluster)),
      ...(await backendsOf(object, cluster)),
      ...(await secretFindings(object, cluster)),
    ]
  },
})

async function classFindings(object: Ingress, cluster: ClusterReader): Promise<Finding[]> {
  const { metadata, spec } = object
  const name = spec.ingressClassName ?? lookup(metadata.annotations, 'kubernetes.io/ingress.class')
  const isAbsent = name !== undefined && (await isMissing(cluster, ingressClass, '', name))
  if (name !== undefined && !isAbsent) return []
  const [only, ...others] = (await cluster.list(ingressClass, '')).map((each) => each.metadata.name)
  const text =
    name === undefined
      ? 'It has no class, and there was no default class when it was created.'
      : `Its class ${name} does not exist.`
  if (only === undefined || others.length > 0) return [problem(text)]
  const patch = { spec: { ingressClassName: only } }
  return [problem(text, { fix: mergePatch(`ingress/${metadata.name}`, namespaceOf(object), patch) })]
}

async function backendsOf(object: Ingress, cluster: ClusterReader): Promise<Finding[]> {
  const { defaultBackend, rules = [] } = object.spec
  const all = [
    { path: '/spec/defaultBackend', backend: defaultBackend },
    ...rules.flatMap(({ http }, rule) =>
      (http?.paths ?? []).map(({ backend }, at) => ({ path: `/spec/rules/${rule}/http/paths/${at}/backend`, backend })),
    ),
  ]
  const used = new Map(
    all.map((each) => [`${each.backend?.service?.name}:${portText(each.backend?.service?.port)}`, each]),
  )
  const home = namespaceOf(object)
  const findings = new Map<string, Finding>()
  for (const { path, backend } of used.values()) {
    if (backend?.service === undefined) continue
    const renamed = (value: string) =>
      jsonPatch(`ingress/${object.metadata.name}`, home, { op: 'replace', path: `${path}/service/name`, value })
    for (const each of await backendFindings(home, backend.service, cluster, renamed)) findings.set(each.text, each)
  }
  return [...findings.values()]
}

async function secretFindings(object: Ingress, cluster: ClusterReader): Promise<Finding[]> {
  const names = new Set(
    (object.spec.tls ?? []).flatMap(({ secretName = '' }) => (secretName === '' ? [] : [secretName])),
  )
  const home = namespaceOf(object)
  const findings: Finding[] = []
  for (const name of names) {
    const found = await cluster.find(secret, home, name)
    const fix = kubectl(home, 'create', 'secret', 'tls', name, '--cert=CERT_FILE', '--key=KEY_FILE')
    if (found === undefined && (await isMissing(cluster, secret, home, name)))
      findings.push(
        problem(`Its Secret ${name} does not exist: clients get a certificate that they do not trust.`, { fix }),
      )
    if (found !== undefined && !['tls.crt', 'tls.key'].every((key) => lookup(found.data, key) !== undefined))
      findings.push(
        problem(`Its Secret ${name} has no tls.crt and tls.key.`, {
          fix: `${kubectl(home, 'delete', 'secret', name)} && ${fix}`,
        }),
      )
  }
  return findings
}
