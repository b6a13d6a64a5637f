const { scenario } = require('./scenario.cjs')

for (const [name, run] of Object.entries(scenario)) test(name, run)
