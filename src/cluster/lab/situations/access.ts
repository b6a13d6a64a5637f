// Situations of permissions and admission: roles, refused requests, webhooks, quotas.
import { deployment } from './manifests.ts'
import { inCluster, inDefault, type ManifestObject, type Situation } from './situation.ts'

const rbac = 'rbac.authorization.k8s.io'

const account = (name: string): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: 'default' },
})

const binding = (role: string, subject: string): ManifestObject => ({
  apiVersion: `${rbac}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'bot', namespace: 'default' },
  roleRef: { apiGroup: rbac, kind: 'Role', name: role },
  subjects: [{ kind: 'ServiceAccount', name: subject, namespace: 'default' }],
})

const podReader: ManifestObject = {
  apiVersion: `${rbac}/v1`,
  kind: 'Role',
  metadata: { name: 'pod-reader', namespace: 'default' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
}

export const missingRole: Situation = {
  name: 'missing-role',
  story: 'The RoleBinding bot exists, but the bot may not read pods.',
  asked: inDefault('rolebinding/bot'),
  symptom: 'It grants nothing',
  objects: [account('bot'), podReader, binding('pod-raeder', 'bot')],
  hints: ['A binding grants what its role allows.', 'kubectl get roles shows what exists.'],
}

export const misspeltSubject: Situation = {
  name: 'misspelt-subject',
  story: 'The RoleBinding bot names a role that exists, but the bot may not read pods.',
  asked: inDefault('rolebinding/bot'),
  symptom: 'does not exist',
  objects: [account('bot'), podReader, binding('pod-reader', 'bott')],
  hints: ['A binding has a role and subjects.', 'kubectl get serviceaccounts shows what exists.'],
}

export const refusedRequests: Situation = {
  name: 'refused-requests',
  story: 'The program that runs as the ServiceAccount bot cannot list pods.',
  asked: inDefault('serviceaccount/bot'),
  symptom: 'Its requests are refused',
  objects: [account('bot')],
  refused: { account: 'bot', path: '/api/v1/namespaces/default/pods' },
  hints: ['A new ServiceAccount may do almost nothing.', 'A Role allows something, a RoleBinding grants it.'],
}

export const webhookWithoutService: Situation = {
  name: 'webhook-without-service',
  story: 'No ConfigMap can be created any more.',
  asked: inCluster('validatingwebhookconfiguration/policy'),
  symptom: 'every request that it matches is rejected',
  mayVanish: true,
  objects: [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'policy' },
      webhooks: [
        {
          name: 'policy.example.com',
          clientConfig: { service: { namespace: 'default', name: 'policy' } },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
  ],
  hints: ['Something has to answer for every ConfigMap.', 'Which Service does the webhook name?'],
}

export const exceededQuota: Situation = {
  name: 'exceeded-quota',
  story: 'The Deployment api was scaled to 3, but has 2 pods.',
  asked: inDefault('deployment/api'),
  symptom: 'It needs 3 pods',
  objects: [
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'team', namespace: 'default' },
      spec: { hard: { pods: '2' } },
    },
    deployment('api', { replicas: 3 }),
  ],
  hints: ['The third pod is never created.', 'kubectl get resourcequota shows what is used.'],
}
