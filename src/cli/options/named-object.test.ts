import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { bareKind } from '../../api/kind/bare-kind.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { kindNamed, objectOperand } from './named-object.ts'

const cronTab = bareKind({
  group: 'stable.example.com',
  version: 'v1',
  kind: 'CronTab',
  plural: 'crontabs',
  singular: 'crontab',
  shortNames: ['ct'],
  namespaced: true,
})
const served = () => Promise.resolve([cronTab])

for (const typed of [
  'crontab',
  'CronTab',
  'crontabs',
  'ct',
  'crontab.stable.example.com',
  'crontabs.stable.example.com',
])
  test(`${typed} names a custom kind`, async () => equal(await kindNamed(typed, served), cronTab))

test('built-in kinds are found without the cluster', async () => {
  const unreachable = () => Promise.reject(new Error('unreachable'))
  for (const typed of ['deployment', 'deploy', 'Deployments', 'deployments.apps'])
    equal(await kindNamed(typed, unreachable), deployment)
})

test('an unknown kind is an error with a suggestion', async () => {
  await rejects(kindNamed('widget', served), { message: 'unknown kind "widget"; kubectl api-resources lists all' })
  await rejects(kindNamed('deploymnt', served), { message: 'unknown kind "deploymnt"; did you mean deployment?' })
  await rejects(kindNamed('crontap', served), { message: 'unknown kind "crontap"; did you mean crontab?' })
})

test('the operand is one word with a slash or two words', () => {
  deepEqual(objectOperand(['crontab/a']), { kindName: 'crontab', name: 'a' })
  deepEqual(objectOperand(['crontab', 'a']), { kindName: 'crontab', name: 'a' })
  for (const operands of [[], ['crontab'], ['a/b/c'], ['a/b', 'c'], ['/a']])
    throws(() => objectOperand(operands), /name one object/)
})
