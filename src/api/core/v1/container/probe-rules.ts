// Rules of probes and lifecycle hooks: exactly one handler each, and valid bounds.
import { append } from '../../../../base/collections/append.ts'
import { wholePattern } from '../../../../base/text/whole-pattern.ts'
import { forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { portErrors, portNameErrors } from '../../../validation/network-rules.ts'
import type { HTTPGetAction, Lifecycle, LifecycleHandler, Probe, SleepAction } from './probe.ts'
import { type Int64 } from '../../../../schema/scalar/int64.ts'

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & Pick<LifecycleHandler, 'sleep'>

/** The probes of one container by field name. */
export interface Probes {
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
}

export function validateProbes(probes: Probes, graceSeconds: Int64, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = probes[name]
    if (probe === undefined) continue
    append(errors, validateProbe(probe, graceSeconds, `${path}.${name}`))
    if (name !== 'readinessProbe' && probe.successThreshold !== 1)
      errors.push(invalid(`${path}.${name}.successThreshold`, probe.successThreshold, 'must be 1'))
    if (name === 'readinessProbe' && probe.terminationGracePeriodSeconds !== undefined)
      errors.push(
        invalid(
          `${path}.${name}.terminationGracePeriodSeconds`,
          probe.terminationGracePeriodSeconds,
          'must not be set for readinessProbes',
        ),
      )
  }
  return errors
}

// Negative counts are rejected by the constraints of the fields.
function validateProbe(probe: Probe, graceSeconds: Int64, path: string): FieldError[] {
  const { terminationGracePeriodSeconds: seconds } = probe
  const errors = validateHandler(probe, graceSeconds, path)
  if (seconds !== undefined && seconds <= 0)
    errors.push(invalid(`${path}.terminationGracePeriodSeconds`, seconds, 'must be greater than 0'))
  return errors
}

export function validateLifecycle(
  { postStart, preStop, stopSignal }: Lifecycle,
  { graceSeconds, os }: { graceSeconds: Int64; os: string | undefined },
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (postStart !== undefined) append(errors, validateHandler(postStart, graceSeconds, `${path}.postStart`))
  if (preStop !== undefined) append(errors, validateHandler(preStop, graceSeconds, `${path}.preStop`))
  if (stopSignal !== undefined && os === undefined)
    errors.push(forbidden(`${path}.stopSignal`, 'may not be set for containers with empty `spec.os.name`'))
  return errors
}

function validateHandler(handler: Handler, graceSeconds: Int64, path: string): FieldError[] {
  const [first, ...others] = handlerNames.filter((name) => handler[name] !== undefined)
  if (first === undefined) return [required(path, 'must specify a handler type')]
  return [
    ...validateChosen(first, handler, graceSeconds, `${path}.${first}`),
    ...others.map((name) => forbidden(`${path}.${name}`, 'may not specify more than 1 handler type')),
  ]
}

/** In the order in which upstream checks them. */
const handlerNames = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const

function validateChosen(
  name: (typeof handlerNames)[number],
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  graceSeconds: Int64,
  path: string,
): FieldError[] {
  switch (name) {
    case 'exec':
      return exec?.command?.length ? [] : [required(`${path}.command`)]
    case 'httpGet':
      return httpGet === undefined ? [] : validateHttpGet(httpGet, path)
    case 'tcpSocket':
      return validatePort(tcpSocket?.port ?? 0, `${path}.port`)
    case 'grpc':
      return validatePort(grpc?.port ?? 0, `${path}.port`)
    case 'sleep':
      return sleep === undefined ? [] : validateSleep(sleep, graceSeconds, path)
    default:
      return name satisfies never
  }
}

const headerName = '[-A-Za-z0-9]+'
const headerNamePattern = wholePattern(headerName)

const validateHttpGet = ({ path: asked, port, httpHeaders = [] }: HTTPGetAction, path: string): FieldError[] => [
  ...(asked ? [] : [required(`${path}.path`)]),
  ...validatePort(port ?? 0, `${path}.port`),
  ...httpHeaders
    .filter(({ name }) => !headerNamePattern.test(name ?? ''))
    .map(({ name }) =>
      invalid(
        `${path}.httpHeaders`,
        name ?? '',
        `a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '${headerName}')`,
      ),
    ),
]

const validatePort = (port: number | string, path: string): FieldError[] =>
  (typeof port === 'number' ? portErrors(port) : portNameErrors(port)).map((detail) => invalid(path, port, detail))

const validateSleep = ({ seconds = 0 }: Partial<SleepAction>, graceSeconds: Int64, path: string): FieldError[] =>
  seconds < 0 || seconds > graceSeconds
    ? [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)]
    : []
