// Flow 09: access decisions: the rule that allowed a call, the message of a rejection, and privilege escalation.
import { deepEqual, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import {
  configMap,
  context,
  pod,
  role,
  roleBinding,
  serviceAccount,
  startCluster,
  StatusError,
} from '../../src/cluster/index.ts'
import { selfSubjectRulesReview } from '../../src/api/authorization/v1/self-subject-rules-review.ts'
import { comparePage, excerpt, since } from './page.ts'

const ctx = context(new AbortController().signal)

test('09 access decision', async () => {
  await using cluster = await startCluster()
  const { client } = cluster
  const name = 'reader'
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] },
  ]
  await client.of(serviceAccount).create({ metadata: { name } }, 'default', ctx)
  await client.of(role).create({ metadata: { name }, rules }, 'default', ctx)
  const subjects = [{ kind: 'ServiceAccount', name, namespace: 'default' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
  await client.of(roleBinding).create({ metadata: { name }, subjects, roleRef }, 'default', ctx)
  const containers = [{ name: 'c', image: 'i' }]
  await client.of(pod).create({ metadata: { name: 'web' }, spec: { containers } }, 'default', ctx)
  await cluster.clock.advance('1s')

  const asReader = cluster.as(`system:serviceaccount:default:${name}`)
  await asReader.of(pod).patch('web', 'default', { metadata: { labels: { seen: 'yes' } } }, 'merge', ctx)
  const refused = (error: unknown) => error instanceof StatusError && error.code === 403
  await rejects(asReader.of(configMap).create({ metadata: { name: 'x' } }, 'default', ctx), (error: Error) => {
    match(
      error.message,
      /User "system:serviceaccount:default:reader" cannot create resource "configmaps" in API group "" in the namespace "default"/,
    )
    return refused(error)
  })
  await rejects(asReader.of(pod).delete('web', 'default', {}, ctx), refused)
  const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
  await rejects(
    asReader.of(role).create({ metadata: { name: 'more' }, rules: secrets }, 'default', ctx),
    (error: Error) => {
      match(
        error.message,
        /is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["secrets"\], Verbs:\["get"\]\}/,
      )
      return refused(error)
    },
  )
  const listed = await asReader
    .of(selfSubjectRulesReview)
    .create({ metadata: {}, spec: { namespace: 'default' } }, '', ctx)
  const own = listed.status?.resourceRules?.filter(
    ({ resources }) => resources?.includes('pods') || resources?.includes('roles'),
  )
  deepEqual(
    own?.map(({ verbs, resources }) => [...(resources ?? []), ...verbs]),
    [
      ['pods', 'get', 'patch'],
      ['roles', 'create'],
    ],
  )
  const drawn = { fold: true, stages: true }
  const flow = cluster.flow(configMap, 'x', 'default', drawn)
  match(flow, /create configmaps x → 403 Forbidden/)
  const mine = cluster.flow(pod, 'web', 'default', drawn)
  match(mine, /delete pods web → 403 Forbidden/)
  const allowed = cluster.flow(pod, 'web', 'default', { fold: true, rules: true })
  match(
    allowed,
    /patch pods web → 200 {2}\(RBAC: allowed by RoleBinding "reader\/default" of Role "reader" to ServiceAccount "reader\/default"\)/,
  )

  await comparePage(
    '09-access-decision',
    'Access decision',
    [
      {
        heading: 'Allowed',
        text: 'Each call shows the rule that allowed it: a group for the administrator, roles for the scheduler and the ServiceAccount, the rules of nodes for the kubelet. The first authorizer with an opinion decides.',
        diagram: excerpt(
          allowed,
          /test ──► API Server: (create|patch) pods web → 20/,
          /create pods\/binding/,
          /patch pods\/status/,
        ),
      },
      {
        heading: 'Rejected',
        text: 'A ServiceAccount that may read and label pods: everything else is rejected by authorization, and nothing is stored. It may create roles, but not with permissions that it does not have; this is checked after the body was read.',
        diagram: [
          excerpt(flow, /configmaps x/, /authentication|authorization/),
          excerpt(since(mine, 'delete pods web'), /delete pods web/, /authentication|authorization/),
          excerpt(cluster.flow(role, 'more', 'default', drawn), /create roles more/, /API Server ··· API Server/),
        ].join('\n\n'),
      },
    ],
    [
      [
        'webhooks and attribute files decide, in the order of the configuration',
        'the first authorizer with an opinion decides',
        'src/apiserver/outbound/external-authentication.test.ts',
      ],
      ['`kubectl auth can-i --list`', 'it lists the permissions of the user', 'test/identity/identity.test.ts'],
      ['every decision', 'is in the audit log', 'src/apiserver/audit/audit.test.ts'],
    ],
  )
})
