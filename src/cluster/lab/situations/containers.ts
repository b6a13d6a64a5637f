// Situations of containers: probes, crashes, images, Secrets and ConfigMaps.
import { deployment, pod } from './manifests.ts'
import { inDefault, type Situation } from './situation.ts'

const port = { ports: [{ containerPort: 8080 }] }

export const readinessProbe: Situation = {
  name: 'readiness-probe',
  story: 'The Deployment web was rolled out, but it does not become available.',
  asked: inDefault('deployment/web'),
  symptom: 'It needs 1 pod',
  objects: [
    deployment('web', {
      container: { ...port, readinessProbe: { httpGet: { path: '/healthz', port: 8081 }, periodSeconds: 5 } },
    }),
  ],
  hints: ['The pod runs, but it is not ready.', 'Compare the port of the probe with the port of the container.'],
}

export const livenessProbe: Situation = {
  name: 'liveness-probe',
  story: 'The Deployment api works, but its pod is restarted all the time.',
  asked: inDefault('deployment/api'),
  symptom: 'It needs 1 pod',
  objects: [
    deployment('api', {
      container: { ...port, livenessProbe: { tcpSocket: { port: 9090 }, periodSeconds: 2, failureThreshold: 2 } },
    }),
  ],
  hints: ['Which component restarts it?', 'The kubelet stops a container whose liveness probe fails.'],
}

export const crashLoop: Situation = {
  name: 'crash-loop',
  story: 'The Deployment worker does not start.',
  asked: inDefault('deployment/worker'),
  symptom: 'It needs 1 pod',
  objects: [
    deployment('worker', {
      behaviour: {
        'exit-code': '3',
        log: 'worker 1.4.0\nconnecting to postgres://app:hunter2@db:5432/orders\nfatal: DB_PASSWORD=hunter2 was rejected',
      },
    }),
  ],
  hints: ['Its container starts, and ends at once.', 'Read the last lines of its log.'],
}

export const badImage: Situation = {
  name: 'bad-image',
  story: 'The Deployment shop has no running pod.',
  asked: inDefault('deployment/shop'),
  symptom: 'It needs 1 pod',
  objects: [deployment('shop', { container: { image: 'ngnix:1.29' } })],
  hints: ['Its container has never been started.', 'Look at the name of its image.'],
}

export const missingSecret: Situation = {
  name: 'missing-secret',
  story: 'The pod mailer stays in ContainerCreating.',
  asked: inDefault('pod/mailer'),
  symptom: 'cannot start',
  objects: [
    pod('mailer', {
      container: { volumeMounts: [{ name: 'login', mountPath: '/login' }] },
      spec: { volumes: [{ name: 'login', secret: { secretName: 'smtp-login' } }] },
    }),
  ],
  hints: ['A pod starts when all its volumes are mounted.', 'kubectl get secrets shows what exists.'],
}

export const failedJob: Situation = {
  name: 'failed-job',
  story: 'The Job migrate has failed.',
  asked: inDefault('job/migrate'),
  symptom: 'It has failed',
  mayVanish: true,
  objects: [
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'migrate', namespace: 'default' },
      spec: {
        backoffLimit: 1,
        template: {
          metadata: {
            annotations: {
              'simulated.coxswain.dev/exit-code': '2',
              'simulated.coxswain.dev/log': 'migrating orders\nERROR: relation "orders" does not exist',
            },
          },
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'migrate', image: 'migrate:1' }],
            terminationGracePeriodSeconds: 0,
          },
        },
      },
    },
  ],
  hints: ['The pod of a failed Job is kept.', 'Read its exit code and its log.'],
}
