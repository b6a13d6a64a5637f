// Parameters of classes: those of the driver, and the reserved ones, which name secrets and the filesystem type.
import { lookup } from '../../../base/collections/lookup.ts'

/** Keys with this prefix are not passed to the driver. */
const reservedPrefix = 'csi.storage.k8s.io/'

const secretPurposes = [
  'provisioner',
  'controller-publish',
  'node-stage',
  'node-publish',
  'controller-expand',
  'node-expand',
  'snapshotter',
  'snapshotter-list',
] as const
export type SecretPurpose = (typeof secretPurposes)[number]

const reservedKeys: ReadonlySet<string> = new Set([
  `${reservedPrefix}fstype`,
  ...secretPurposes.flatMap((purpose) => [nameKey(purpose), namespaceKey(purpose)]),
])

function nameKey(purpose: SecretPurpose): string {
  return `${reservedPrefix}${purpose}-secret-name`
}

function namespaceKey(purpose: SecretPurpose): string {
  return `${reservedPrefix}${purpose}-secret-namespace`
}

type Parameters = Readonly<Record<string, string>>

/** The parameters for the driver. Throws for an unknown reserved key. */
export function driverParameters(parameters: Parameters): Parameters {
  const own = Object.entries(parameters).filter(([key]) => {
    if (!key.startsWith(reservedPrefix)) return true
    if (reservedKeys.has(key)) return false
    throw new Error(`found unknown parameter key "${key}" with reserved namespace ${reservedPrefix}`)
  })
  return Object.fromEntries(own)
}

export const filesystemType = (parameters: Parameters): string => lookup(parameters, `${reservedPrefix}fstype`) ?? ''

export interface SecretRef {
  readonly name: string
  readonly namespace: string
}

/** Values for `${pv.name}`, `${pvc.namespace}` and others in the name and namespace of a secret. */
export interface TemplateValues {
  readonly [variable: string]: string
}

/** The secret for a purpose; undefined when the class names none. */
export function secretRef(
  parameters: Parameters,
  purpose: SecretPurpose,
  values: TemplateValues,
): SecretRef | undefined {
  const name = lookup(parameters, nameKey(purpose))
  const namespace = lookup(parameters, namespaceKey(purpose))
  if (name === undefined && namespace === undefined) return undefined
  if (name === undefined || namespace === undefined)
    throw new Error('either name and namespace for Provisioner secrets specified, Both must be specified')
  return { name: resolved(name, values), namespace: resolved(namespace, values) }
}

function resolved(template: string, values: TemplateValues): string {
  return template.replaceAll(/\$\{([^${}]*)\}/g, (_, variable: string) => {
    const value = lookup(values, variable)
    if (value === undefined) throw new Error(`invalid tokens: [${JSON.stringify(variable)}]`)
    return value
  })
}
