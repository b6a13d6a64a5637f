// Situations of controllers: a namespace that is not deleted, a schedule without a date, an autoscaler without metrics.
import { deployment } from './manifests.ts'
import { inCluster, inDefault, type Situation } from './situation.ts'

export const stuckNamespace: Situation = {
  name: 'stuck-namespace',
  story: 'The namespace old stays in Terminating.',
  asked: inCluster('namespace/old'),
  symptom: 'is left in it',
  mayVanish: true,
  objects: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'old' } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'old', finalizers: ['example.com/hold'] },
    },
  ],
  deleted: [inCluster('namespace/old')],
  hints: ['Something in the namespace is left.', 'An object with a finalizer is kept until its controller removes it.'],
}

export const cronJobWithoutDate: Situation = {
  name: 'cron-job-without-date',
  story: 'The CronJob yearly has never started a Job.',
  asked: inDefault('cronjob/yearly'),
  symptom: 'never starts',
  objects: [
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'yearly', namespace: 'default' },
      spec: {
        schedule: '0 3 31 2 *',
        jobTemplate: {
          spec: {
            template: { spec: { restartPolicy: 'Never', containers: [{ name: 'yearly', image: 'yearly:1' }] } },
          },
        },
      },
    },
  ],
  hints: ['Read its schedule: minute, hour, day, month, weekday.', 'How many days has February?'],
}

export const autoscalerWithoutRequests: Situation = {
  name: 'autoscaler-without-requests',
  story: 'The HorizontalPodAutoscaler web never scales.',
  asked: inDefault('hpa/web'),
  symptom: 'a metric cannot be used',
  objects: [
    deployment('web'),
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    },
  ],
  hints: ['It scales by the utilization of CPU.', 'Utilization is a percentage of the requests.'],
}
