// The CustomResourceDefinition of BackendTLSPolicy.
import { orEmpty, parentRef } from './route-parts.ts'
import {
  ageColumn,
  annotations,
  atomicList,
  choice,
  conditions,
  controllerName,
  definition,
  group,
  hostname,
  kindName,
  object,
  objectName,
  preciseHostname,
  rule,
  sectionName,
  subdomain,
  text,
  withRules,
  type Rule,
} from './schema-parts.ts'

const targetRef = object({ group, kind: kindName, name: objectName, sectionName }, ['group', 'kind', 'name'])
const isSameTarget = 'a.group == b.group && a.kind == b.kind && a.name == b.name'

const targetRefs = withRules(
  { ...atomicList(targetRef, 16), minItems: 1 },
  rule(
    'sectionName must be specified when targetRefs includes 2 or more references to the same target',
    `self.all(a, self.all(b, !(${isSameTarget}) || has(a.sectionName) == has(b.sectionName)))`,
  ),
  rule(
    'sectionName must be unique when targetRefs includes 2 or more references to the same target',
    `self.all(a, self.exists_one(b, ${isSameTarget} && ${orEmpty('a.sectionName')} == ${orEmpty('b.sectionName')}))`,
  ),
)

/** A union of two members. */
const unionRules = (type: string, field: string): readonly Rule[] => [
  rule(
    `SubjectAltName element must contain ${type}, if Type is set to ${type}`,
    `self.type != '${type}' || ${orEmpty(`self.${field}`)} != ''`,
  ),
  rule(
    `SubjectAltName element must not contain ${type}, if Type is not set to ${type}`,
    `self.type == '${type}' || ${orEmpty(`self.${field}`)} == ''`,
  ),
]

const subjectAltName = withRules(
  object(
    {
      hostname,
      type: choice('Hostname', 'URI'),
      uri: text(253, 1, '^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\\?([^#]*))?(#(.*))?'),
    },
    ['type'],
  ),
  ...unionRules('Hostname', 'hostname'),
  ...unionRules('URI', 'uri'),
)

const hasReferences = '(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0)'
const hasWellKnown = `${orEmpty('self.wellKnownCACertificates')} != ''`

const validation = withRules(
  object(
    {
      caCertificateRefs: atomicList(object({ group, kind: kindName, name: objectName }, ['group', 'kind', 'name']), 8),
      hostname: preciseHostname,
      subjectAltNames: atomicList(subjectAltName, 5),
      wellKnownCACertificates: text(253, 1, `^(System|(${subdomain}/([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]))$`),
    },
    ['hostname'],
  ),
  rule('must not contain both CACertificateRefs and WellKnownCACertificates', `!(${hasReferences} && ${hasWellKnown})`),
  rule('must specify either CACertificateRefs or WellKnownCACertificates', `${hasReferences} || ${hasWellKnown}`),
)

const ancestor = object({ ancestorRef: parentRef, conditions: { ...conditions, minItems: 1 }, controllerName }, [
  'ancestorRef',
  'conditions',
  'controllerName',
])

export const backendTlsPolicyDefinition = definition({
  kind: 'BackendTLSPolicy',
  plural: 'backendtlspolicies',
  shortNames: ['btlspolicy'],
  labels: { 'gateway.networking.k8s.io/policy': 'Direct' },
  scope: 'Namespaced',
  versions: ['v1'],
  spec: object({ options: annotations(16), targetRefs, validation }, ['targetRefs', 'validation']),
  status: object({ ancestors: atomicList(ancestor, 16) }, ['ancestors']),
  columns: [ageColumn],
})
