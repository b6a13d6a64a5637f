// Why a container is not ready, not started, or restarted because of a probe: which probe, what it does, how it fails, and
// whether the port is one that the container declares.
import type { Container } from '../../../api/core/v1/container/container.ts'
import type { Event } from '../../../api/core/v1/event.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ContainerStatus } from '../../../api/core/v1/pod/pod-status.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { plural } from '../explainer/explainer.ts'
import { problem, warning, type Finding } from '../explainer/finding.ts'
import { withoutCredentials } from '../explainer/log-excerpt.ts'
import { editCommand, specPatch, templateOwnerOf, type TemplateOwner } from '../explainer/template-owner.ts'
import { lastSeen, timesSeen, warningsOf } from './pod-warnings.ts'

type ProbeKind = 'liveness' | 'readiness' | 'startup'
type Probe = NonNullable<Container['livenessProbe']>

export async function whyNotReady(object: Pod, status: ContainerStatus, cluster: ClusterReader): Promise<Finding[]> {
  const { name, state } = status
  const running = `Container ${name} has been running since ${state?.running?.startedAt ?? 'now'}, but`
  const failing = await failingProbe(object, name, 'readiness', cluster)
  return [failing === undefined ? warning(`${running} its readiness probe has not succeeded.`) : failing(running)]
}

export async function whyNotStarted(
  object: Pod,
  { name }: ContainerStatus,
  cluster: ClusterReader,
): Promise<Finding[]> {
  const running = `Container ${name} is running, but`
  const failing = await failingProbe(object, name, 'startup', cluster)
  return [failing === undefined ? warning(`${running} its startup probe has not succeeded yet.`) : failing(running)]
}

/** Undefined if no liveness or startup probe has failed. */
export async function whyKilledByProbe(
  object: Pod,
  { name, restartCount, lastState }: ContainerStatus,
  cluster: ClusterReader,
): Promise<Finding | undefined> {
  const failing =
    (await failingProbe(object, name, 'liveness', cluster)) ?? (await failingProbe(object, name, 'startup', cluster))
  const at = lastState?.terminated?.finishedAt ?? 'an unknown time'
  return failing?.(
    `Container ${name} is restarted again and again (${plural(restartCount, 'time')}, last at ${at}), because`,
  )
}

/** Makes the finding, given the beginning of its sentence; undefined if the probe has not failed. */
async function failingProbe(
  object: Pod,
  name: string,
  kind: ProbeKind,
  cluster: ClusterReader,
): Promise<((beginning: string) => Finding) | undefined> {
  const index = object.spec.containers.findIndex((each) => each.name === name)
  const container = object.spec.containers[index]
  const probe = container?.[`${kind}Probe`]
  if (container === undefined || probe === undefined) return undefined
  const found = (await warningsOf(object, cluster)).find((each) => isAbout(each, kind, name))
  if (found === undefined) return undefined
  const owner = await templateOwnerOf(object, cluster)
  const other = otherPort(container, probe, found)
  return (beginning) =>
    problem(
      [
        `${beginning} its ${kind} probe fails: ${actionText(probe)} every ${probe.periodSeconds} s${failureText(found)} (${plural(timesSeen(found), 'time')}, last at ${lastSeen(found)}).`,
        ...portSentences(container, probe, found),
      ].join(' '),
      { covers: ['Unhealthy', 'BackOff', `${kind} probe`], fix: probeCommand(owner, index, kind, probe, other) },
    )
}

const titles = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const

function isAbout({ reason, message = '', involvedObject }: Event, kind: ProbeKind, container: string): boolean {
  const { fieldPath } = involvedObject
  return (
    reason === 'Unhealthy' &&
    message.startsWith(`${titles[kind]} probe `) &&
    (fieldPath === undefined || fieldPath.endsWith(`{${container}}`))
  )
}

/** The message without its fixed beginning, on one line. */
function failureText({ message = '' }: Event): string {
  const text = message
    .replace(/^\w+ probe (?:failed|errored and resulted in unknown state|errored): /, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text === '' ? '' : `: ${withoutCredentials(text.slice(0, failureCharactersMax))}`
}

const failureCharactersMax = 300

function actionText({ httpGet, tcpSocket, grpc, exec }: Probe): string {
  if (httpGet !== undefined) return `${httpGet.scheme ?? 'HTTP'} GET ${httpGet.path ?? '/'} on port ${httpGet.port}`
  if (tcpSocket !== undefined) return `a TCP connection to port ${tcpSocket.port}`
  if (grpc !== undefined) return `a gRPC health check on port ${grpc.port}`
  return `the command ${JSON.stringify((exec?.command ?? []).join(' ').slice(0, failureCharactersMax))}`
}

const portOf = ({ httpGet, tcpSocket, grpc }: Probe): string | number | undefined =>
  httpGet?.port ?? tcpSocket?.port ?? grpc?.port

const isRefused = ({ message = '' }: Event): boolean => message.includes('connection refused')

function portSentences(container: Container, probe: Probe, failure: Event): string[] {
  const port = portOf(probe)
  if (port === undefined || !isRefused(failure)) return []
  const declared = (container.ports ?? []).map(({ containerPort }) => containerPort)
  const nothing = `Nothing listens on port ${port}`
  if (declared.length === 0) return [`${nothing} of the pod.`]
  return [
    isDeclared(container, port)
      ? `${nothing}, although container ${container.name} declares it.`
      : `${nothing}; container ${container.name} declares port ${declared.join(', ')}.`,
  ]
}

const isDeclared = ({ ports = [] }: Container, port: string | number): boolean =>
  ports.some(({ name, containerPort }) => name === port || containerPort === port)

/** The only port that the container declares, where the probe is refused on another one. */
function otherPort(container: Container, probe: Probe, failure: Event): number | undefined {
  const port = portOf(probe)
  const [only, ...others] = container.ports ?? []
  if (port === undefined || only === undefined || others.length > 0) return undefined
  return isRefused(failure) && !isDeclared(container, port) ? only.containerPort : undefined
}

function probeCommand(
  owner: TemplateOwner,
  index: number,
  kind: ProbeKind,
  { httpGet, tcpSocket }: Probe,
  port: number | undefined,
): string {
  const action = httpGet !== undefined ? 'httpGet' : tcpSocket !== undefined ? 'tcpSocket' : 'grpc'
  const path = `/containers/${index}/${kind}Probe/${action}/port`
  return (port === undefined ? undefined : specPatch(owner, path, port)) ?? editCommand(owner)
}
