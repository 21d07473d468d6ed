import { expect, it } from "vitest";
import { skillText, useSkills } from "./test-skills.ts";

const { call, open, write } = useSkills();

it("shows a skill that another instance has reported, although checking many files takes a rest", async () => {
  for (let count = 0; count < 400; count += 1) write(`skill-${count}/SKILL.md`, skillText(`skill-${count}`));
  const source = await open();
  const read = async () => JSON.stringify(await source.read({ path: "skill-7/SKILL.md" }, call()));
  expect(await read()).not.toContain("new words");
  write("skill-7/SKILL.md", `${skillText("skill-7")}\nnew words\n`);
  await source.noteChanges([{ kind: "changed", path: "skill-7/SKILL.md" }], call());
  expect(await read()).toContain("new words");
});
