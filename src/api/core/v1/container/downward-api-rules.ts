// References to a pod's own fields and resources in environment variables and downward API volumes.
import { invalid, notSupported, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { qualifiedNameErrors } from '../../../validation/names.ts'
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'
import type { ObjectFieldSelector, ResourceFieldSelector } from './env-var.ts'

/** Variables and files allow different fields, because some fields change while a pod runs. */
export type DownwardPlace = 'environment' | 'volume'

const fieldsOf: Readonly<Record<DownwardPlace, readonly string[]>> = {
  environment: [
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    'spec.nodeName',
    'spec.serviceAccountName',
    'status.hostIP',
    'status.hostIPs',
    'status.podIP',
    'status.podIPs',
  ],
  volume: ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
}

/** All labels that the field conversion knows, whether or not they are allowed anywhere. */
const knownFields = new Set([
  ...fieldsOf.environment,
  ...fieldsOf.volume,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])

/** `metadata.labels['key']`: the map and the key. The first subscript is used. */
function subscripted(fieldPath: string): { readonly map: string; readonly key: string } | undefined {
  const at = fieldPath.indexOf("['")
  if (at < 1 || at + 2 > fieldPath.length - 2 || !fieldPath.endsWith("']")) return undefined
  return { map: fieldPath.slice(0, at), key: fieldPath.slice(at + 2, -2) }
}

export function validateFieldRef(
  { apiVersion, fieldPath }: ObjectFieldSelector,
  place: DownwardPlace,
  path: string,
): FieldError[] {
  if (!apiVersion) return [required(`${path}.apiVersion`)]
  if (!fieldPath) return [required(`${path}.fieldPath`)]
  const broken = conversionError(apiVersion, fieldPath)
  if (broken !== undefined) return [invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${broken}`)]
  const found = subscripted(fieldPath)
  if (found !== undefined) {
    const { map, key } = found
    const name = map === 'metadata.annotations' ? key.toLowerCase() : key
    return qualifiedNameErrors(name).map((detail) => invalid(path, name, detail))
  }
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  return fieldsOf[place].includes(field) ? [] : [notSupported(`${path}.fieldPath`, field, fieldsOf[place])]
}

function conversionError(apiVersion: string, fieldPath: string): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`
  const map = subscripted(fieldPath)?.map
  if (map !== undefined)
    return map === 'metadata.annotations' || map === 'metadata.labels'
      ? undefined
      : `field label does not support subscript: ${fieldPath}`
  return knownFields.has(fieldPath) ? undefined : `field label not supported: ${fieldPath}`
}

const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const hugePages = /^(requests|limits)\.hugepages-/
const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

export function validateResourceFieldRef(
  { containerName, resource, divisor }: ResourceFieldSelector,
  place: DownwardPlace,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (place === 'volume' && !containerName) errors.push(required(`${path}.containerName`))
  else if (!resource) errors.push(required(`${path}.resource`))
  else if (!resources.includes(resource) && !hugePages.test(resource))
    errors.push(notSupported(`${path}.resource`, resource, resources))
  const detail = divisorError(resource ?? '', divisor ?? '0')
  if (detail !== undefined) errors.push(invalid(`${path}.divisor`, resource, detail))
  return errors
}

function divisorError(resource: string, divisor: string): string | undefined {
  if (quantityNanos(divisor) === 0n) return undefined
  if (resource.endsWith('.cpu'))
    return ['1m', '1'].includes(divisor)
      ? undefined
      : "only divisor's values 1m and 1 are supported with the cpu resource"
  const kind = byteResource(resource)
  if (kind === undefined || byteDivisors.includes(divisor)) return undefined
  return `only divisor's values ${byteDivisors.join(', ')} are supported with the ${kind} resource`
}

function byteResource(resource: string): string | undefined {
  if (resource.endsWith('.memory')) return 'memory'
  if (resource.endsWith('.ephemeral-storage')) return 'local ephemeral storage'
  return hugePages.test(resource) ? 'hugepages' : undefined
}
