/** A small server: two texts, a template with completion, a tool and a prompt that return resources. */
import { defineResources, embed, link, prompt, serve, template, tool } from "pressmark";

const skies = new Map([
  ["kobe", "rain"],
  ["kyoto", "sun"],
]);
const citiesLike = (typed: string) => [...skies.keys()].filter((city) => city.startsWith(typed));

const forecast = template("forecast/{city}{?days}", {
  description: "The weather in a city on the next days",
  mimeType: "text/markdown",
  complete: { city: citiesLike },
  read({ city, days = "1" }) {
    const sky = skies.get(city);
    return sky && `# ${city}\n\n${sky}, days: ${days}`;
  },
});

const weather = defineResources({
  texts: {
    "about.md": "# Weather\n\nForecasts for cities in Japan",
    "cities.json": () => ({ json: [...skies.keys()] }),
  },
  templates: [forecast],
  tools: {
    find_weather: tool({
      description: "Find the cities with this weather.",
      input: (z) => z.object({ sky: z.enum(["rain", "sun"]) }),
      readOnly: true,
      run: ({ sky }) =>
        [...skies].filter(([, each]) => each === sky).map(([city]) => link(forecast.at({ city }), { title: city })),
    }),
  },
  prompts: {
    pack: prompt({
      description: "What to pack for a journey",
      args: { city: { description: "Where to", complete: citiesLike }, "days?": "How long" },
      run: ({ city, days }) => [`What do I pack for ${city}?`, embed(forecast.at({ city, days }))],
    }),
  },
});

await serve({ name: "weather", transport: "stdio", mounts: { weather } });
