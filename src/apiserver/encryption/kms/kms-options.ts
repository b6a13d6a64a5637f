// kmsOptions: the `kms` section of an EncryptionConfiguration, with upstream's error messages.
import type { ConfigReader } from '../../config/config-reader.ts'
import type { KmsOptions } from './kms-provider.ts'

const timeoutMsDefault = 3_000
/** With a longer timeout, a write could wait for longer than the request timeout. */
const timeoutMsMax = 60_000

const v1Refused =
  'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead (apiVersion: v2).'

export function kmsOptions(kms: ConfigReader, namesInUse: ReadonlySet<string>): KmsOptions {
  const apiVersion = kms.string('apiVersion', 'v1')
  const name = kms.string('name', '')
  const endpoint = kms.string('endpoint', '')
  const timeoutMs = kms.milliseconds('timeout', timeoutMsDefault)
  const invalid = (field: string, value: string, why: string) =>
    kms.error(field, `is invalid: ${JSON.stringify(value)}: ${why}`)
  if (apiVersion === 'v1') throw kms.error('apiVersion', `is invalid: ${v1Refused}`)
  if (apiVersion !== 'v2')
    throw invalid(
      'apiVersion',
      apiVersion,
      `unsupported apiVersion ${apiVersion} for KMS provider, only v2 is supported`,
    )
  kms.rejectUnknownFields()
  if (name === '') throw kms.error('name', 'is required: name is a mandatory field for a provider')
  if (name.includes(':')) throw invalid('name', name, `invalid KMS provider name ${name}, must not contain ':'`)
  if (namesInUse.has(name)) throw invalid('name', name, `duplicate KMS provider name ${name}, names must be unique`)
  if (timeoutMs <= 0) throw kms.error('timeout', 'is invalid: timeout should be a positive value')
  if (timeoutMs > timeoutMsMax) throw kms.error('timeout', `is invalid: must not exceed ${timeoutMsMax / 1_000}s`)
  return { name, endpoint: socketOf(endpoint, (why) => invalid('endpoint', endpoint, why)), timeoutMs }
}

function socketOf(endpoint: string, invalid: (why: string) => Error): string {
  if (endpoint === '') throw invalid('endpoint is a mandatory field for a kms')
  const [, scheme = '', path = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(endpoint) ?? []
  if (scheme.toLowerCase() !== 'unix')
    throw invalid(`unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`)
  if (!path.startsWith('/')) throw invalid('the path of the socket must be absolute')
  if (path.startsWith('/@')) throw invalid('sockets of the abstract namespace are not supported')
  return `unix:${path}`
}
