// One round of the soak: a namespace with objects of many kinds, and in some rounds a definition of its own with custom
// objects; the objects are changed, watched and listed, and the namespace and the definition are deleted.
import { realClock } from '../../src/base/time/clock.ts'
import type { Access } from '../../test/access.ts'
import { Client } from '../flood/client.ts'

const configMaps = 12
const secrets = 4
const reportedEvents = 4
const customObjects = 6
const replicas = 3
/** Every so many rounds have a definition. */
const roundsPerDefinition = 5
const pollMs = 200
const pollMsMax = 60_000
const group = 'soak.example.com'
const { signal } = new AbortController()

const labels = { app: 'web' }
const podSpec = { containers: [{ name: 'c', image: 'soak', resources: { requests: { cpu: '1m' } } }] }
const template = { metadata: { labels }, spec: podSpec }
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

const definitionOf = (plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, singular: plural, kind: `Thing${plural}` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 0, default: 1 },
                  names: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 20 } },
                },
                'x-kubernetes-validations': [{ rule: 'self.size < 1000' }],
              },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
})

/** The admin's requests of one worker; counts what it creates. */
export class Soaker implements Disposable {
  /** Of the soak itself; controllers create as many again. */
  created = 0
  readonly #access: Access
  readonly #client: Client

  constructor(access: Access) {
    this.#access = access
    this.#client = new Client(access)
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }

  async round(index: number): Promise<void> {
    const name = `soak-${index}`
    const plural = index % roundsPerDefinition === 0 ? `things${index}` : undefined
    await this.#create('/api/v1/namespaces', { metadata: { name } })
    await this.#fill(name)
    if (plural !== undefined) await this.#define(name, plural)
    await this.#asAccount(name)
    await this.#until(`/apis/apps/v1/namespaces/${name}/deployments/web`, isAvailable)
    await this.#change(name)
    await this.#send('GET', `/api/v1/namespaces/${name}/pods?watch=1&timeoutSeconds=1`)
    for (const path of ['pods', 'events', 'configmaps']) await this.#send('GET', `/api/v1/namespaces/${name}/${path}`)
    await this.#send('DELETE', `/api/v1/namespaces/${name}`)
    await this.#until(`/api/v1/namespaces/${name}`, isAbsent)
    if (plural === undefined) return
    const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`
    await this.#send('DELETE', definition)
    await this.#until(definition, isAbsent)
  }

  async #fill(namespace: string): Promise<void> {
    const core = `/api/v1/namespaces/${namespace}`
    const data = { text: 'x'.repeat(500) }
    for (const index of range(configMaps))
      await this.#create(`${core}/configmaps`, { metadata: { name: `m${index}` }, data })
    for (const index of range(secrets))
      await this.#create(`${core}/secrets`, { metadata: { name: `s${index}` }, stringData: data })
    await this.#create(`${core}/services`, {
      metadata: { name: 'web' },
      spec: { selector: labels, ports: [{ port: 80 }] },
    })
    await this.#create(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name: 'web' },
      spec: { replicas, selector: { matchLabels: labels }, template },
    })
    await this.#create(`/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`, {
      metadata: { name: 'web' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    })
    await this.#create(`/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, {
      metadata: { name: 'web' },
      spec: { podSelector: { matchLabels: labels } },
    })
    for (const index of range(reportedEvents))
      await this.#create(`${core}/events`, {
        metadata: { name: `e${index}` },
        involvedObject: { kind: 'ConfigMap', namespace, name: `m${index}` },
        reason: 'Soaked',
        message: `round of ${namespace}`,
        type: 'Normal',
      })
  }

  async #define(namespace: string, plural: string): Promise<void> {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await this.#create(definitions, definitionOf(plural))
    await this.#until(`${definitions}/${plural}.${group}`, isEstablished)
    const objects = `/apis/${group}/v1/namespaces/${namespace}/${plural}`
    const type = { apiVersion: `${group}/v1`, kind: `Thing${plural}` }
    // The definition is served shortly after it is established.
    await this.#until(objects, (status) => status === 200)
    for (const index of range(customObjects)) {
      const made = await this.#create(objects, { ...type, metadata: { name: `o${index}` }, spec: { names: ['a'] } })
      const object = JSON.parse(made) as object
      await this.#send('PUT', `${objects}/o${index}/status`, { ...object, status: { phase: 'Done' } })
    }
    await this.#send('GET', objects)
  }

  /** Requests of an account that exists for one round. */
  async #asAccount(namespace: string): Promise<void> {
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
    const metadata = { name: 'reader' }
    await this.#create(accounts, { metadata })
    await this.#create(`${rbac}/roles`, {
      metadata,
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    })
    await this.#create(`${rbac}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
    })
    const made = await this.#create(`${accounts}/reader/token`, { spec: { expirationSeconds: 600 } })
    const client = new Client(this.#access, (JSON.parse(made) as { status: { token: string } }).status.token)
    await client.send('GET', `/api/v1/namespaces/${namespace}/configmaps`)
    await client.send('GET', `/api/v1/namespaces/${namespace}/secrets`)
    client.close()
  }

  async #change(namespace: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/configmaps/m0`
    const object = JSON.parse(await this.#send('GET', path)) as object
    for (const value of ['a', 'b', 'c'])
      await this.#send('PUT', path, { ...object, metadata: { name: 'm0' }, data: { value } })
    const scale = `/apis/apps/v1/namespaces/${namespace}/deployments/web/scale`
    const { metadata, spec } = JSON.parse(await this.#send('GET', scale)) as { metadata: object; spec: object }
    await this.#send('PUT', scale, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata,
      spec: { ...spec, replicas: replicas - 1 },
    })
  }

  async #create(path: string, object: object): Promise<string> {
    this.created++
    return this.#send('POST', path, object)
  }

  async #send(method: string, path: string, object?: object): Promise<string> {
    const { status, text } = await this.#client.send(method, path, object)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
    return text
  }

  async #until(path: string, isReached: (status: number, text: string) => boolean): Promise<void> {
    const endMs = realClock.monotonicMs() + pollMsMax
    for (;;) {
      const { status, text } = await this.#client.send('GET', path)
      if (isReached(status, text)) return
      if (realClock.monotonicMs() > endMs)
        throw new Error(`GET ${path} did not become as expected: ${text.slice(0, 300)}`)
      await realClock.sleep(pollMs, signal)
    }
  }
}

const isAbsent = (status: number): boolean => status === 404

function isAvailable(status: number, text: string): boolean {
  const { status: state } = JSON.parse(text) as { status?: { availableReplicas?: number } }
  return status === 200 && state?.availableReplicas === replicas
}

function isEstablished(status: number, text: string): boolean {
  const { status: state } = JSON.parse(text) as { status?: { conditions?: { type: string; status: string }[] } }
  return (
    status === 200 && (state?.conditions ?? []).some(({ type, status: is }) => type === 'Established' && is === 'True')
  )
}
