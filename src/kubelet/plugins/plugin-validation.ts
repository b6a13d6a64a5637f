// Whether a plugin that introduces itself can be registered. Messages equal upstream's, because registrars log them.
import type { RegisteredDriver } from './csi-registry.ts'

export interface PluginInfo {
  readonly type: string
  readonly name: string
  /** The socket of the plugin; that of the registrar if it is empty. */
  readonly endpoint: string
  readonly supportedVersions: readonly string[]
}

export const csiPluginType = 'CSIPlugin'
/** The only major version of CSI that is supported. */
const majorVersion = 1

export type PluginVerdict =
  | { readonly kind: 'valid'; readonly version: string }
  | { readonly kind: 'rejected'; readonly message: string }

export function validatePlugin(
  { type, name, supportedVersions }: PluginInfo,
  socketPath: string,
  registered: Pick<RegisteredDriver, 'version' | 'endpoint'> | undefined,
): PluginVerdict {
  const reject = (why: string): PluginVerdict => ({ kind: 'rejected', message: `RegisterPlugin error -- ${why}` })
  if (type !== csiPluginType) return reject(`no handler registered for plugin type: ${type} at socket ${socketPath}`)
  const invalid = (why: string) =>
    reject(
      `plugin validation failed with err: kubernetes.io/csi: ValidatePlugin for CSI driver ${JSON.stringify(name)} failed. ${why}`,
    )
  if (supportedVersions.length === 0) return invalid('Plugin returned an empty list for supported versions')
  const version = highestVersion(supportedVersions)
  if (version === undefined)
    return invalid(
      `None of the versions specified [${supportedVersions.map((one) => JSON.stringify(one)).join(' ')}] are supported. ` +
        'err=could not find a highest supported version matching 1.x',
    )
  if (registered !== undefined && compareVersions(registered.version, version) > 0)
    return invalid(
      `Another driver with the same name is already registered with a higher supported version: ${JSON.stringify(registered.version)}`,
    )
  return { kind: 'valid', version }
}

const numbersOf = (version: string): readonly number[] => version.replace(/^v/, '').split('.').map(Number)

function compareVersions(a: string, b: string): number {
  const left = numbersOf(a)
  const right = numbersOf(b)
  const length = Math.max(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const isSupported = (version: string): boolean =>
  numbersOf(version)[0] === majorVersion && !numbersOf(version).some(Number.isNaN)

/** Undefined when none is supported. */
const highestVersion = (versions: readonly string[]): string | undefined =>
  versions.filter(isSupported).toSorted(compareVersions).at(-1)
