// Manifests of the situations: pods and workloads with one container.
import { defaultNamespace, type ManifestObject } from './situation.ts'

const prefix = 'simulated.coxswain.dev/'

/** How simulated containers behave: `{ 'exit-code': '1' }`. */
type Behaviour = Readonly<Record<string, string>>

const annotated = (behaviour: Behaviour): { readonly annotations?: Behaviour } =>
  Object.keys(behaviour).length === 0
    ? {}
    : { annotations: Object.fromEntries(Object.entries(behaviour).map(([name, value]) => [`${prefix}${name}`, value])) }

interface PodParts {
  readonly container?: object
  readonly spec?: object
  readonly behaviour?: Behaviour
}

const podSpec = (name: string, { container = {}, spec = {} }: PodParts): object => ({
  containers: [{ name, image: `${name}:1`, ...container }],
  terminationGracePeriodSeconds: 0,
  ...spec,
})

export const pod = (name: string, parts: PodParts = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: defaultNamespace, labels: { app: name }, ...annotated(parts.behaviour ?? {}) },
  spec: podSpec(name, parts),
})

export const deployment = (name: string, parts: PodParts & { readonly replicas?: number } = {}): ManifestObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: defaultNamespace },
  spec: {
    replicas: parts.replicas ?? 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, ...annotated(parts.behaviour ?? {}) },
      spec: podSpec(name, parts),
    },
  },
})

export const service = (name: string, selector: object): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: defaultNamespace },
  spec: { selector, ports: [{ port: 80, targetPort: 8080 }] },
})
