// Names of field managers: where they come from and which are valid.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../schema/validation/field-error.ts'
import { fieldManagerErrors, managerOfSender, managerOfUserAgent } from './field-manager.ts'

const agents: [userAgent: string, manager: string][] = [
  ['kubectl/v1.36.4 (linux/amd64) kubernetes/abc', 'kubectl'],
  ['curl', 'curl'],
  ['', ''],
  ['a\u0000b\u00ADc/1', 'abc'],
  ['é'.repeat(100), 'é'.repeat(64)],
  ['coxswain:controller/replica-set', 'kube-controller-manager'],
]
for (const [userAgent, manager] of agents)
  test(`the manager of ${JSON.stringify(userAgent.slice(0, 40))}`, () => equal(managerOfUserAgent(userAgent), manager))

const senders: [sender: string, manager: string][] = [
  ['controller/deployment', 'kube-controller-manager'],
  ['scheduler', 'kube-scheduler'],
  ['kubelet/node-0', 'kubelet'],
  ['constructor', 'constructor'],
]
for (const [sender, manager] of senders)
  test(`${sender} manages as ${manager}`, () => equal(managerOfSender(sender), manager))

const names: [name: string, errors: string[]][] = [
  ['kubectl', []],
  ['x'.repeat(129), ['fieldManager: Too long: may not be more than 128 bytes']],
  ['é\n', ['fieldManager: Invalid value: "é\\n": invalid character U+000A (at position 2)']],
]
for (const [name, errors] of names)
  test(`as a manager ${JSON.stringify(name.slice(0, 10))} has ${errors.length} errors`, () =>
    deepEqual(fieldManagerErrors(name, 'fieldManager').map(fieldErrorText), errors))
