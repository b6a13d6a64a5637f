// Go templates as in Stages: what they render, and the messages of those that are invalid or fail.
import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { parseTemplate } from './template-parser.ts'
import { renderTemplate } from './render-template.ts'
import { templateFunctions } from './template-functions.ts'
import type { TemplateValue } from './template-nodes.ts'

const data: TemplateValue = {
  metadata: { name: 'web', annotations: { 'example.com/a': 'x', b: '' } },
  spec: { containers: [{ name: 'one', image: 'i:1' }, { name: 'two' }], hostNetwork: false, replicas: 3 },
}
const render = (source: string, value = data): string =>
  renderTemplate(
    parseTemplate(source, (name) => Object.hasOwn(templateFunctions, name)),
    value,
    templateFunctions,
  )

const rows: readonly (readonly [source: string, result: string])[] = [
  ['plain', 'plain'],
  ['{{ .metadata.name }}!', 'web!'],
  ['{{.metadata.name}}', 'web'],
  ['{{ .metadata.uid }} {{ .a.b.c }}', '<no value> <no value>'],
  ['a {{- /* nothing */ -}} b', 'ab'],
  ['a\n{{- .metadata.name -}}\n b', 'awebb'],
  ['{{ $name := .metadata.name }}{{ $name }}{{ $.metadata.name }}', 'webweb'],
  ['{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ $x }}{{ end }}{{ $x }}', '32'],
  ['{{ if .spec.hostNetwork }}a{{ else if .spec.replicas }}b{{ else }}c{{ end }}', 'b'],
  ['{{ if .spec.none }}a{{ else if .spec.nothing }}b{{ else }}c{{ end }}', 'c'],
  ['{{ if not .spec.none }}a{{ end }}', 'a'],
  ['{{ with .spec.none }}a{{ else with .metadata.name }}{{ . }}{{ end }}', 'web'],
  ['{{ with $x := .metadata }}{{ .name }}{{ $x.name }}{{ end }}', 'webweb'],
  ['{{ range .spec.containers }}{{ .name }},{{ end }}', 'one,two,'],
  ['{{ range $i, $c := .spec.containers }}{{ $i }}={{ $c.name }},{{ end }}', '0=one,1=two,'],
  ['{{ range $c := .spec.containers }}{{ $c.name }}{{ continue }}x{{ end }}', 'onetwo'],
  ['{{ range .spec.containers }}{{ .name }}{{ if eq .name "one" }}{{ break }}{{ end }}{{ end }}', 'one'],
  ['{{ range .spec.none }}a{{ else }}none{{ end }}', 'none'],
  ['{{ range $k, $v := .metadata.annotations }}{{ $k }}:{{ $v }};{{ end }}', 'b:;example.com/a:x;'],
  ['{{ range 3 }}{{ . }}{{ end }}{{ range until 2 }}{{ . }}{{ end }}', '01201'],
  ['{{ define "c" }}<{{ .name }}>{{ end }}{{ range .spec.containers }}{{ template "c" . }}{{ end }}', '<one><two>'],
  ['{{ block "b" .metadata }}{{ .name }}{{ end }}{{ template "b" dict "name" 7 }}', 'web7'],
  ['{{ define "d" }}{{ . }}{{ end }}{{ template "d" }}', '<no value>'],
  ['{{ index .metadata.annotations "example.com/a" }}{{ index .spec.containers 1 | print }}', 'xmap[name:two]'],
  ['{{ (index .spec.containers 0).image }}', 'i:1'],
  ['{{ index .metadata.annotations "none" | default "d" }}', 'd'],
  ['{{ or .spec.hostNetwork "" "b" "c" }}{{ and .metadata.name 0 "c" }}{{ or 0 }}', 'b00'],
  ['{{ or "a" (div 1 0) }}{{ and 0 (div 1 0) }}', 'a0'],
  ['{{ .spec.replicas | printf "%s-%03d" "x" }}', 'x-003'],
  ['{{ printf "%q %5d|%v %%" "a" 7 .spec.hostNetwork }}', '"a"     7|false %'],
  ['{{ print "a" 1 2 "b" }}{{ println 1 "x" }}', 'a1 2b1 x\n'],
  ['{{ eq 1 1 }}{{ eq 1 2 1 }}{{ ne "a" "b" }}{{ eq .spec.none "x" }}{{ eq nil .spec.none }}', 'truetruetruefalsetrue'],
  ['{{ lt 1 2 }}{{ le 2 2 }}{{ gt "b" "a" }}{{ ge 1 2 }}', 'truetruetruefalse'],
  ['{{ len .spec.containers }}{{ len "ä" }}{{ len .metadata }}', '222'],
  ['{{ slice "abcd" 1 3 }}{{ slice .spec.containers 1 | len }}', 'bc1'],
  ['{{ "a\\tb" }}{{ `raw\\n` }}', 'a\tbraw\\n'],
  ['{{ true }}{{ nil }}{{ -3 }}{{ 0x10 }}{{ 1.5 }}', 'true<no value>-3161.5'],
  ['{{ .spec.replicas }}{{ list 1 "a" nil }}', '3[1 a <nil>]'],
  ['{{ Quote "a\\"b" }}{{ Quote 1 }}{{ Quote nil }}', '"a\\"b""1""null"'],
  ['x:{{ YAML .metadata.annotations 1 }}', 'x:\n  b: ""\n  example.com/a: x\n  '],
  ['{{ YAML .spec.containers }}', '- image: i:1\n  name: one\n- name: two\n'],
  ['{{ add 1 2 "3" }}{{ add1 1 }}{{ sub 5 2 }}{{ mul 2 3 }}{{ div 7 2 }}{{ mod 7 2 }}', '623631'],
  ['{{ max 1 3 2 }}{{ min 2 1 }}{{ int "4" }}{{ int64 4.9 }}{{ atoi "x" }}{{ int true }}', '314401'],
  ['{{ upper "a" }}{{ lower "B" }}{{ trim " c " }}{{ quote "d" nil 1 }}', 'Abc"d" "1"'],
  ['{{ replace "a" "$&" "banana" }}{{ join "," (list 1 2) }}', 'b$&n$&n$&1,2'],
  ['{{ hasPrefix "w" .metadata.name }}{{ hasSuffix "w" "web" }}{{ contains "e" "web" }}', 'truefalsetrue'],
  [
    '{{ trimPrefix "w" "web" }}{{ trimSuffix "b" "web" }}{{ trimSuffix "" "web" }}{{ trimPrefix "x" "web" }}',
    'ebwewebweb',
  ],
  ['{{ splitList "," "a,b" | last }}{{ first (list 7) }}{{ has 2 (list 1 2) }}', 'b7true'],
  ['{{ ternary "y" "n" true }}{{ ternary "y" "n" .spec.hostNetwork }}{{ empty "" }}{{ coalesce "" 0 "c" }}', 'yntruec'],
  ['{{ $d := dict "a" 1 "b" }}{{ get $d "a" }}{{ hasKey $d "b" }}{{ get $d "c" }}{{ keys $d }}', '1true[a b]'],
  [
    '{{ toJson .spec.containers }}{{ (fromJson "{\\"a\\":[1]}").a }}',
    '[{"name":"one","image":"i:1"},{"name":"two"}][1]',
  ],
  [
    '{{ append (list 1) 2 | concat (list 0) }}{{ toString 1 }}{{ untilStep 0 6 3 }}{{ untilStep 0 5 0 }}',
    '[0 1 2]1[0 3][]',
  ],
]
for (const [source, expected] of rows) test(source, () => equal(render(source), expected))

const failing: readonly (readonly [source: string, message: RegExp])[] = [
  ['{{ .a', /line 1: unclosed action/],
  ['\n{{ if .a }}', /not closed with end/],
  ['\n{{ end }}', /line 2: unexpected end/],
  ['{{ else }}', /line 1: unexpected else/],
  ['{{ if .a }}{{ else foo }}{{ end }}', /unexpected text after else/],
  ['{{ if .a }}{{ end x }}', /unexpected "x"/],
  ['{{ foo }}', /function "foo" not defined/],
  ['{{ .a .b }}', /only a function has arguments/],
  ['{{ .a | .b }}', /cannot be passed to what is no function/],
  ['{{ .a | }}', /a value is missing/],
  ['{{ (.a }}', /"\)" is missing/],
  ['{{ ! }}', /unexpected "!"/],
  ['{{ , }}', /unexpected ","/],
  ['{{ "\\x41" }}', /is not supported/],
  ['{{ define x }}{{ end }}', /a name in quotes is missing/],
  ['{{ $x }}', /undefined variable "\$x"/],
  ['{{ .metadata.name.first }}', /can't evaluate field first in web/],
  ['{{ template "none" }}', /template "none" not defined/],
  ['{{ define "r" }}{{ template "r" }}{{ end }}{{ template "r" }}', /exceeded maximum template depth/],
  ['{{ range .metadata.name }}{{ end }}', /range can't iterate over web/],
  ['{{ eq 1 "a" }}', /error calling eq: incompatible types/],
  ['{{ eq .spec .spec }}', /non-comparable/],
  ['{{ lt 1 "a" }}', /incompatible types/],
  ['{{ index nil "a" }}', /index of untyped nil/],
  ['{{ index .spec.containers 5 }}', /index out of range: 5/],
  ['{{ index 1 5 }}', /can't index 1/],
  ['{{ len 1 }}', /len of 1/],
  ['{{ slice "a" 2 }}', /index out of range: 2:1/],
  ['{{ slice 1 }}', /can't slice 1/],
  ['{{ div 1 0 }}', /division by zero/],
  ['{{ join "," 1 }}', /1 is not a list/],
  ['{{ get 1 "a" }}', /1 is not a map/],
  ['{{ fromJson "{" }}', /error calling fromJson/],
  ['{{ until 10001 }}', /may have 10000 items/],
  ['{{ range 1000 }}{{ range 1000 }}{{ . }}{{ end }}{{ end }}', /more than 200000 steps/],
  ['{{ if 1 }}'.repeat(101), /nested more than 100 levels/],
  [`{{ ${'('.repeat(102)} }}`, /parentheses are nested/],
  ['x'.repeat(100_001), /more than 100000 characters/],
  [
    `{{ $x := list 1 }}${'{{ $x = list $x $x }}'.repeat(60)}{{ toJson $x }}`,
    /a value is too large|more than 200000 steps/,
  ],
  [`{{ $x := "ab" }}${'{{ $x = print $x $x }}'.repeat(60)}`, /a value is too large|more than 200000 steps/],
  [`{{ $x := "ab" }}${'{{ $x = replace "" "abc" $x }}'.repeat(60)}`, /a value is too large|more than 200000 steps/],
  [`{{ $x := "ab" }}${'{{ $x = join $x (list $x $x $x) }}'.repeat(60)}`, /a value is too large|more than 200000 steps/],
  ['{{ range 1000 }}{{ range 50 }}{{ printf "%999s" "x" }}{{ end }}{{ end }}', /more than 4194304 characters/],
]
for (const [source, message] of failing)
  test(`${source.slice(0, 50)} fails`, () => throws(() => render(source), message))
