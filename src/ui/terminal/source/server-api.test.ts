import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { deployments, nodes, pods } from '../state/state.harness.ts'
import { targetOf } from './server-api.ts'

for (const [what, target, wanted] of [
  ['objects of all namespaces', targetOf(pods, {}), '/api/v1/pods'],
  ['objects of a namespace', targetOf(pods, { namespace: 'shop' }), '/api/v1/namespaces/shop/pods'],
  [
    'objects of a group',
    targetOf(deployments, { namespace: 'shop', name: 'web' }),
    '/apis/apps/v1/namespaces/shop/deployments/web',
  ],
  ['an object without a namespace', targetOf(nodes, { namespace: 'shop', name: 'a' }), '/api/v1/nodes/a'],
  [
    'a subresource',
    targetOf(pods, { namespace: 'shop', name: 'web', subresource: 'log' }, { follow: 'true', previous: undefined }),
    '/api/v1/namespaces/shop/pods/web/log?follow=true',
  ],
  [
    'parameters and names that have to be encoded',
    targetOf(pods, { namespace: 'shop', name: 'a/b' }, { labelSelector: 'a=b,c in (d)' }),
    '/api/v1/namespaces/shop/pods/a%2Fb?labelSelector=a%3Db%2Cc+in+%28d%29',
  ],
] as const)
  test(`the target of ${what}`, () => equal(target, wanted))
