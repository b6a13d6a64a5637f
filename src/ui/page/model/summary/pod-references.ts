// What the spec of a pod, or of a pod template, refers to by name.

export interface PodReferences {
  readonly secrets: readonly string[]
  readonly configMaps: readonly string[]
  readonly claims: readonly string[]
  readonly serviceAccount: string | undefined
}

interface Named {
  readonly name?: string
}

interface Source {
  readonly secret?: { readonly secretName?: string } & Named
  readonly configMap?: Named
}

interface Spec {
  readonly serviceAccountName?: string
  readonly imagePullSecrets?: readonly Named[]
  readonly volumes?: readonly (Source & {
    readonly persistentVolumeClaim?: { readonly claimName?: string }
    readonly projected?: { readonly sources?: readonly Source[] }
  })[]
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
}

interface Container {
  readonly envFrom?: readonly { readonly secretRef?: Named; readonly configMapRef?: Named }[]
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: Named; readonly configMapKeyRef?: Named } }[]
}

export function referencesOf(spec: object = {}): PodReferences {
  const { serviceAccountName, imagePullSecrets = [], volumes = [], ...lists } = spec as Spec
  const containers = [lists.initContainers, lists.containers, lists.ephemeralContainers].flatMap((all) => all ?? [])
  const sources = volumes.flatMap((volume) => [volume, ...(volume.projected?.sources ?? [])])
  const from = containers.flatMap(({ envFrom = [] }) => envFrom)
  const values = containers.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom ?? []))
  return {
    serviceAccount: serviceAccountName,
    claims: distinct(volumes.map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName)),
    secrets: distinct([
      ...imagePullSecrets.map(({ name }) => name),
      ...sources.map(({ secret }) => secret?.secretName ?? secret?.name),
      ...from.map(({ secretRef }) => secretRef?.name),
      ...values.map(({ secretKeyRef }) => secretKeyRef?.name),
    ]),
    configMaps: distinct([
      ...sources.map(({ configMap }) => configMap?.name),
      ...from.map(({ configMapRef }) => configMapRef?.name),
      ...values.map(({ configMapKeyRef }) => configMapKeyRef?.name),
    ]),
  }
}

const distinct = (names: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(names.filter((name) => name !== undefined)),
]
