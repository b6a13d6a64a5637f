// Responses in YAML as text: objects, lists, errors and discovery documents; and media types that they are not available in.
import {
  definition,
  definitionsPath,
  get,
  mergePatch,
  objectSchema,
  patch,
  post,
  remove,
  version,
  widgetsOf,
  type Scenario,
} from '../scenario.ts'

const inYaml = { accept: 'application/yaml' }
const schema = objectSchema({
  spec: objectSchema({
    zeta: { type: 'string' },
    alpha: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    texts: { type: 'array', items: { type: 'string' } },
    matrix: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    objects: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    nullable: { type: 'string', nullable: true },
  }),
})
const widgets = widgetsOf('yaml.example.com')
const path = widgets.path('a')

/** Texts of other types, of several lines, with indicators of YAML, and too long for a line. */
const texts = [
  ...['', ' ', 'plain', 'two words', 'true', 'no', 'y', 'null', '~', 'Yes', 'OFF', 'on', 'N', 'tRUE', 'nil', 'None'],
  ...['1', '1.5', '1e3', '1e400', '0x1f', '0x', '010', '08', '0o7', '0o8', '0b1', '0b2', '-0b1', '1_000', '1__0', '_1'],
  ...['+1', '-1', '1.', '.5', '.5e3', '.', '..', '.inf', '-.INF', '.nan', '1,000', '1e', '18446744073709551616'],
  ...['0xffffffffffffffff', '0xfffffffffffffffff', '12:30:45', '1:60', '1:5.5', '+1:2', '12:30:', '=', '<<', '<'],
  ...['2019-01-01', '2019-1-1', '2019-02-30', '2019-13-01', '2019-01-01T00:00:00Z', '2019-01-01 1:2:3.5', '2019-01'],
  ...['2019-01-01t01:02:03+01:00', '2019-01-01T25:00:00Z', '2019-01-01T00:00:00', '19-01-01'],
  ...['- a', '-', '-a', '--- a', '---', '...', 'a: b', 'a:', ':a', ': a', 'a #b', 'a#b', '#a', '?a', '? a', 'a ? b'],
  ...['*a', '&a', '!a', '%a', '%', '@a', '`a', '[a', '{a', 'a]', 'a}', ']a', '}a', ',a', 'a, b', '|', '>', '>a', '|a'],
  ...["it's", "'", "'a", '"', '"quoted"', 'a "b"', 'back\\slash', 'tab\there', '\ttab', 'tab\t', 'return\r', '\\'],
  ...[
    'line\nbreak',
    'line\nbreak\n',
    '\nfirst',
    '\n',
    '\n\n',
    ' leading\nbreak',
    'a\n  b\n',
    'a \nb',
    'a\nb ',
    'a\tb\nc',
  ],
  ...['a\n\n\nb\n\n', 'true\n', '# a\n', 'a: b\nc', 'ä\nö', '\u0001\na', 'trailing ', ' leading', 'a  b'],
  ...[
    'ä ö ü',
    '日本',
    '😀',
    'a😀\nb',
    '\u0001',
    '\u0000',
    '\u001b',
    '\u00a0',
    '\u00ad',
    '\u2028',
    'a\u2028b',
    '\u2029 a',
  ],
  ...['\ue000', '\ufffd', '\ufeff', 'a\ufeff'],
]
const word = 'x'.repeat(30)
const longTexts = [
  'x'.repeat(120),
  `${word} `.repeat(6).trimEnd(),
  `${word}  ${word}  ${word}  ${word}  ${word}`,
  `${word} `.repeat(6),
  ` ${word}`.repeat(6),
  `${word}: ${word} 'a' ${word} ${word}  ${word}`,
  `true\t${word} ${word} ${word} ${word} ${word}`,
  `\t${word} ${word} ${word}  ${word} "${word}" ${word} `,
  `${word} ${word} ${word} ${word} ${word}\n${word} ${word} ${word} ${word} ${word}`,
  'ä'.repeat(70) + ' ä'.repeat(20),
  'a '.repeat(60) + 'b',
]
const keys = [
  ...['b', 'a', '10', '9', 'no', 'a b', '', 'Z', 'a-b', 'a_b', 'a.b', 'ab', 'a/b', 'ä', '-', '~', '1.5', 'a: b', '['],
  ...['a1', 'a10', 'a9', 'a09', 'a010', 'a1-', 'x100', 'x11', 'x101', 'x1', 'x0', 'x00', 'x001'],
  ...['two\nlines', word.repeat(4), word.repeat(5), ' ', "it's", '\t'],
]

/** The columns have descriptions, whose wording is each server's own. */
const rowsOf = (text: string): string => text.slice(text.indexOf('\nkind: '))

/** Managed fields repeat the keys, sorted with a prefix. */
const specOf = (text: string): string => text.slice(text.indexOf('\nspec:'))

/** Documents of built-in groups are long. */
const startOf = (body: unknown): unknown =>
  typeof body === 'string' && !body.includes('\nkind: Status\n') ? body.split('\n').slice(0, 2) : body
const errorOf = (body: { readonly kind?: string }): unknown => (body.kind === 'Status' ? body : body.kind)

const objects: Scenario = {
  name: 'objects and lists in YAML',
  definitions: [definition(widgets.group, [version(schema)])],
  steps: [
    post(
      widgets.list,
      widgets.object('a', {
        spec: {
          zeta: 'z',
          alpha: 'a',
          count: 5,
          ratio: 0.5,
          on: true,
          texts: ['one', 'two'],
          nullable: null,
          matrix: [[1, 2], [], [3]],
          objects: [{ b: 1, a: { d: [], c: {} } }, {}, { e: [[], [{ f: [1] }], ['x']] }],
        },
      }),
      inYaml,
    ),
    get(path, inYaml),
    get(widgets.list, inYaml),
    get(`${widgets.list}?labelSelector=none%3Dx`, inYaml),
    get(`/apis/${widgets.group}/v1/widgets?limit=1`, inYaml),
    patch(path, mergePatch, { spec: { zeta: 'a\n\n' } }, inYaml),
    get(path, { accept: 'application/yaml;as=Table;g=meta.k8s.io;v=v1', view: rowsOf }),
    get(path, { accept: 'application/yaml;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
    get(widgets.list, { accept: 'application/yaml;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }),
    get(widgets.list, { accept: 'application/json;as=Table;g=other;v=v1,application/yaml' }),
    get(`${widgets.list}?watch=1`, { ...inYaml, events: 1 }),
    remove(path, undefined, inYaml),
    get(`${definitionsPath}?labelSelector=none%3Dx`, inYaml),
  ],
}

const scalars: Scenario = {
  name: 'texts, numbers and keys in YAML',
  definitions: [definition('yaml-scalars.example.com', [version(schema)])],
  steps: [
    ...[
      ['texts', { texts }],
      ['long', { texts: longTexts, zeta: longTexts[1], open: { [word]: { [word]: longTexts[2] } } }],
      ['sorted', { map: Object.fromEntries(keys.map((key) => [key, key.length > 9 ? 'long' : key])) }],
      [
        'keys',
        { open: { [word.repeat(5)]: { a: 1, b: [] }, [`a${word.repeat(5)}`]: ['x', { c: 1 }], b: { '- a': {} } } },
      ],
      [
        'numbers',
        {
          count: 9007199254740991,
          ratio: 1e21,
          objects: [
            {
              a: 1,
              b: 1e-7,
              c: 123456789.125,
              d: -0.5,
              e: 1e100,
              f: 100000000000000000000,
              g: 1234567.5,
              h: 0.00001234,
            },
            { a: 123456.5, b: -1e21, c: 1e6, d: 18446744073709550000, e: -9223372036854775808, f: 1e19, g: -1e19 },
          ],
        },
      ],
    ].flatMap(([name, spec]) => {
      const { create, path: pathOf } = widgetsOf('yaml-scalars.example.com')
      return [
        create(name as string, { spec }, { isPreparation: true }),
        get(pathOf(name as string), { ...inYaml, view: specOf }),
      ]
    }),
  ],
}

const errorRoot = '/apis/yaml-errors.example.com'
const errorList = `${errorRoot}/v1/namespaces/default/widgets`
const errorObject = { apiVersion: 'yaml-errors.example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
const errors: Scenario = {
  name: 'errors in YAML',
  definitions: [definition('yaml-errors.example.com', [version(schema)])],
  steps: [
    get(`${errorList}/missing`, inYaml),
    post(errorList, { ...errorObject, spec: { on: 1 } }, inYaml),
    post(errorList, {}, inYaml),
    get(`${errorRoot}/v1/namespaces/default/gadgets`, inYaml),
    get(`${errorRoot}/v9`, inYaml),
    get('/apis/missing.example.com', inYaml),
    get(`${errorList}?labelSelector=%3D%3D`, inYaml),
    get(`${errorList}/missing`, { accept: 'application/yaml;as=Table;g=meta.k8s.io;v=v1' }),
    get(`${errorList}/missing`, { accept: 'application/yaml;as=Table;g=meta.k8s.io;v=v1,application/yaml' }),
    get(`${errorList}/missing`, { accept: 'text/html' }),
    get('/api/v1/namespaces/default/configmaps/missing', inYaml),
    ...['text/html', 'application/*', 'application/json;as=Nonsense'].flatMap((accept) => [
      get('/api/v1/namespaces/default/configmaps/missing', { accept }),
      get('/api/v1/namespaces/default/configmaps?labelSelector=a', { accept }),
      get('/api/v1/namespaces/default/configmaps?watch=1&labelSelector=a&timeoutSeconds=1', { accept }),
      get(`${errorList}?watch=1&timeoutSeconds=1`, { accept }),
      post('/api/v1/namespaces/default/configmaps', {}, { accept }),
    ]),
    get('/api/v1/namespaces/default/pods/missing/log', { accept: 'text/html' }),
    get('/api/v1/namespaces/default/pods/missing/log', inYaml),
    get('/api/v1/namespaces/default/configmaps?watch=1', inYaml),
    remove(`${errorList}/missing`, undefined, inYaml),
  ],
}

const html = { accept: 'text/html' }
const custom = '/apis/yaml-discovery.example.com'
const one = '/apis/yaml-discovery.example.com/v1'
const discovery: Scenario = {
  name: 'discovery documents in YAML and in unknown types',
  definitions: [
    definition('yaml-discovery.example.com', [
      version(schema, { subresources: { status: {} } }),
      version(schema, { name: 'v2', storage: false }),
    ]),
  ],
  steps: [
    get(custom, { ...inYaml, until: ({ status, body }) => status === 200 && String(body).includes('v2') }),
    get(one, inYaml),
    get(`${custom}/v2`, inYaml),
    ...['/api', '/apis', '/api/v1', '/apis/apps/v1', '/version'].map((each) => get(each, { ...inYaml, view: startOf })),
    get('/apis/apps', inYaml),
    get('/', { ...inYaml, view: () => 'paths' }),
    get('/api/v1', { view: ({ resources: _, ...rest }) => rest }),
    ...['/apis', '/apis/apps', '/api', '/api/v1', '/apis/apps/v1', custom, one].map((each) => get(each, html)),
    get('/version', html),
    get('/', { ...html, view: () => 'paths' }),
    ...['application/cbor', 'application/json;as=Nonsense;g=x;v=v1'].flatMap((accept) =>
      [one, '/apis', '/api/v1'].map((each) => get(each, { accept, view: errorOf })),
    ),
    ...['text/html,*/*', 'application/*'].flatMap((accept) =>
      [one, '/apis', '/api/v1'].map((each) => get(each, { accept, view: errorOf })),
    ),
  ],
}

export const yamlResponses: readonly Scenario[] = [objects, scalars, errors, discovery]
