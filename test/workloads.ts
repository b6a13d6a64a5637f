// One object of every kind of workload that runs pods, for tests that delete them while they run.

/** Every container runs until it is stopped; the Job and the CronJob's Jobs never complete. */
export function workloads(image: string): readonly object[] {
  const labels = { app: 'work' }
  const container = { name: 'c', image }
  const running = { terminationGracePeriodSeconds: 5, containers: [container] }
  const selected = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: running } }
  const job = { template: { spec: { ...running, restartPolicy: 'Never' } } }
  const named = (apiVersion: string, kind: string, name: string, spec: object) => ({
    apiVersion,
    kind,
    metadata: { name },
    spec,
  })
  return [
    named('batch/v1', 'Job', 'plain', job),
    named('batch/v1', 'Job', 'indexed', { ...job, completionMode: 'Indexed', completions: 2, parallelism: 2 }),
    named('batch/v1', 'CronJob', 'timed', { schedule: '* * * * *', jobTemplate: { spec: job } }),
    named('apps/v1', 'StatefulSet', 'numbered', { ...selected, serviceName: 'numbered', replicas: 2 }),
    named('apps/v1', 'DaemonSet', 'everywhere', selected),
    named('apps/v1', 'Deployment', 'replaced', selected),
  ]
}

/** How many pods they run on one node once the CronJob has started its first Job. */
export const workloadPods = 1 + 2 + 1 + 2 + 1 + 1
