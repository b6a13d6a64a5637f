// Field validation of requests: unknown and duplicate fields are rejected, warned about or ignored.
import {
  applyPatch,
  definition,
  jsonPatch,
  mergePatch,
  objectSchema,
  patch,
  post,
  put,
  version,
  widgetsOf,
  type Scenario,
} from '../scenario.ts'

const widgets = widgetsOf('fields.example.com')
const schema = objectSchema({
  spec: objectSchema({
    a: { type: 'string' },
    list: { type: 'array', items: objectSchema({ b: { type: 'string' } }) },
    open: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { closed: objectSchema({ c: { type: 'string' } }) },
    },
    map: { type: 'object', additionalProperties: objectSchema({ d: { type: 'string' } }) },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  }),
})
const text = (name: string, spec: string, metadata = '') =>
  `{"apiVersion":"${widgets.group}/v1","kind":"Widget","metadata":{"name":"${name}"${metadata}},"spec":${spec}}`
const unknown = {
  spec: { x: 1, list: [{ b: 'c', y: 1 }, { z: 1 }], open: { w: 1, closed: { v: 1 } }, map: { k: { u: 1 } } },
  top: 1,
}
const modes = ['', 'Strict', 'Warn', 'Ignore', 'Nonsense']
const query = (mode: string, more = '') => `?dryRun=All${mode === '' ? '' : `&fieldValidation=${mode}`}${more}`

const unknownFields: Scenario = {
  name: 'unknown and duplicate fields',
  definitions: [definition(widgets.group, [version(schema, { subresources: { status: {} } })])],
  steps: [
    widgets.create('kept', { spec: { a: 'x' } }, { label: 'kept', isPreparation: true }),
    ...modes.flatMap((mode) => [
      widgets.create('w', unknown, { path: `${widgets.list}${query(mode)}` }),
      post(`${widgets.list}${query(mode)}`, text('w', '{"a":"1","a":"2","list":[{"b":"1","b":"2"}]}')),
      post(`${widgets.list}${query(mode)}`, text('w', '{"a":"1","A":"2"}', ',"name":"v"')),
      put(
        `${widgets.path('kept')}${query(mode)}`,
        widgets.object('kept', { ...unknown }, { resourceVersion: '{{kept.metadata.resourceVersion}}', nonsense: 1 }),
      ),
      patch(`${widgets.path('kept')}${query(mode)}`, mergePatch, { spec: { x: 1 } }),
      patch(`${widgets.path('kept')}${query(mode)}`, mergePatch, '{"spec":{"a":"1","a":"2"}}'),
      patch(`${widgets.path('kept')}${query(mode)}`, jsonPatch, [{ op: 'add', path: '/spec/x', value: 1 }]),
      patch(`${widgets.path('kept')}${query(mode)}`, jsonPatch, [
        { op: 'add', path: '/spec/a', value: 'b', nonsense: 1 },
      ]),
      patch(
        `${widgets.path('kept')}${query(mode, '&fieldManager=one')}`,
        applyPatch,
        widgets.object('kept', { spec: { x: 1 } }),
      ),
      patch(`${widgets.path('kept')}/status${query(mode)}`, mergePatch, { status: { x: 1 } }),
    ]),
    ...['Strict', 'Warn'].flatMap((mode) => [
      post(
        `${widgets.list}${query(mode)}`,
        `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  a: "1"\n  a: "2"\n  x: 3\n`,
        { contentType: 'application/yaml' },
      ),
      patch(
        `${widgets.path('kept')}${query(mode, '&fieldManager=one')}`,
        applyPatch,
        `apiVersion: ${widgets.group}/v1\nkind: Widget\nmetadata:\n  name: kept\n  nonsense: 1\nspec:\n  a: "1"\n  a: "2"\n`,
      ),
      post(
        `${widgets.list}${query(mode)}`,
        widgets.object(
          'w',
          {},
          {
            nonsense: 1,
            labels: { a: 'b' },
            ownerReferences: [
              { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8', other: 1 },
            ],
          },
        ),
      ),
      post(
        `${widgets.list}${query(mode)}`,
        widgets.object('w', {
          spec: { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', nonsense: 1 } } },
        }),
      ),
      post(
        `${widgets.list}${query(mode)}`,
        widgets.object('w', { spec: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, 1])) }),
      ),
    ]),
  ],
}

export const fieldValidation: readonly Scenario[] = [unknownFields]
