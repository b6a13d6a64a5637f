// Explains problems of Jobs and CronJobs.
import { parseSchedule } from '../../../api/batch/schedule/schedule.ts'
import { cronJob, type CronJob } from '../../../api/batch/v1/cron-job.ts'
import { job, type Job } from '../../../api/batch/v1/job.ts'
import { pod } from '../../../api/core/v1/pod/pod.ts'
import { controllerOf, namespaceOf } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { because, conditionOf, defineExplainer, plural } from '../explainer/explainer.ts'
import { info, problem, warning, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl, mergePatch } from '../explainer/fix-command.ts'
import { whyPod } from '../pods/pod-explainer.ts'
import { ownedBy, simulatedNodesOf, whyPodsOf } from './pods-of.ts'

const stateOf = ({ status }: Job, type: 'Complete' | 'Failed') => {
  const found = conditionOf(status.conditions, type)
  return found?.status === 'True' ? found : undefined
}

export const jobExplainer = defineExplainer({
  kind: job,
  checked: 'its conditions and its pods',
  async explain(object, cluster) {
    const { spec, status, metadata } = object
    if (stateOf(object, 'Complete') !== undefined) return [info('It is complete.')]
    const failed = stateOf(object, 'Failed')
    if (failed !== undefined) return whyFailed(object, because(failed), cluster)
    const { succeeded = 0, failed: failures = 0, active = 0 } = status
    const text = `It needs ${plural(spec.completions ?? 1, 'completion')}: ${succeeded} so far, ${plural(active, 'active pod')}, ${failures} failed (backoff limit ${spec.backoffLimit ?? 6}).`
    return [
      ...(spec.suspend
        ? [
            warning('It is suspended: no pod is started until it is resumed.', {
              fix: mergePatch(`job/${metadata.name}`, namespaceOf(object), { spec: { suspend: false } }),
            }),
          ]
        : []),
      failures > 0 ? warning(text) : info(text),
      ...(await whyPodsOf([object], cluster)),
    ]
  },
})

/** The reason of the Job, and how its last pod has failed. */
async function whyFailed(object: Job, reason: string, cluster: ClusterReader): Promise<Finding[]> {
  const pods = (await cluster.list(pod, namespaceOf(object))).filter(
    (each) => ownedBy(object, each) && each.status.phase === 'Failed',
  )
  const last = pods
    .toSorted((a, b) => (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''))
    .at(-1)
  const causes = last === undefined ? [] : await whyPod(last, cluster)
  const owner = controllerOf(object)
  const again =
    owner?.kind === 'CronJob'
      ? kubectl(namespaceOf(object), 'create', 'job', `${owner.name}-again`, `--from=cronjob/${owner.name}`)
      : undefined
  return [
    problem(`It has failed: ${reason}.`, { covers: ['BackoffLimitExceeded'], ...withFix(again) }),
    ...causes.map((cause) => ({ ...cause, text: `Pod ${last?.metadata.name ?? ''}: ${cause.text}` })),
    ...(last === undefined ? [] : await simulatedNodesOf([last], cluster)),
  ]
}

/** A day that exists in a month, where a schedule names one that does not. */
const lastDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

export const cronJobExplainer = defineExplainer({
  kind: cronJob,
  checked: 'its schedule and its last Jobs',
  async explain(object, cluster) {
    const { spec, status, metadata } = object
    const home = namespaceOf(object)
    return [
      ...(spec.suspend
        ? [
            // A schedule is often suspended for good.
            info('It is suspended: no Job is started until it is resumed.', {
              fix: mergePatch(`cronjob/${metadata.name}`, home, { spec: { suspend: false } }),
            }),
          ]
        : []),
      ...scheduleFindings(object, cluster.nowMs),
      ...((status.active ?? []).length > 0 && spec.concurrencyPolicy === 'Forbid'
        ? [info('Its last Job is still running, and its concurrency policy Forbid allows no second one.')]
        : []),
      ...(await lastJobFindings(object, cluster)),
    ]
  },
})

function scheduleFindings(object: CronJob, nowMs: number): Finding[] {
  const { schedule, timeZone, suspend } = object.spec
  const { lastScheduleTime } = object.status
  const text = `${JSON.stringify(schedule)}${timeZone === undefined ? '' : ` (${timeZone})`}`
  const next = parseSchedule(schedule, timeZone)?.next(nowMs)
  if (next === undefined)
    return [
      problem(
        `Its schedule ${text} matches no date within five years, so it never starts a Job.`,
        withFix(scheduleCommand(object)),
      ),
    ]
  const last = lastScheduleTime === undefined ? 'it has not started one yet' : `the last one at ${lastScheduleTime}`
  const coming = suspend ? '' : `, the next one at ${new Date(next).toISOString().replace('.000Z', 'Z')}`
  return [info(`It starts a Job on the schedule ${text}; ${last}${coming}.`)]
}

/** The last day of the month instead of one that the month does not have. */
function scheduleCommand(object: CronJob): string | undefined {
  const { metadata, spec } = object
  const [minute, hour, day, month, weekday] = spec.schedule.trim().split(/\s+/)
  const last = lastDays[Number(month) - 1]
  if (weekday === undefined || last === undefined || !(Number(day) > last)) return undefined
  const schedule = [minute, hour, last, month, weekday].join(' ')
  return mergePatch(`cronjob/${metadata.name}`, namespaceOf(object), { spec: { schedule } })
}

/** Why the newest Job has failed. */
async function lastJobFindings(object: CronJob, cluster: ClusterReader): Promise<Finding[]> {
  const jobs = (await cluster.list(job, namespaceOf(object))).filter((each) => ownedBy(object, each))
  const newest = jobs
    .toSorted((a, b) => (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''))
    .at(-1)
  if (newest === undefined) return []
  const findings = (await jobExplainer.explain(newest, cluster)).filter(({ severity }) => severity !== 'info')
  return findings.map((each) => ({ ...each, text: `Job ${newest.metadata.name}: ${each.text}`, about: newest }))
}
