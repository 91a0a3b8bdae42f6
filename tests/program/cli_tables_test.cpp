// Tables through the program: what is said before training, predictions for new rows, and data that changed.
#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/run_program.h"

namespace {

using Json = nlohmann::ordered_json;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::Outcome;
using lockstep::test::run;

const std::string quickly = " --quiet --lane cpu:best ";

void write(const Folder& folder, const std::string& name, const std::string& text) {
    std::ofstream(folder.path / name, std::ios::binary) << text;
}

/// Three clusters whose columns lie near 5, 100 and 0.1.
std::string clusters(int rows, bool labels = true) {
    std::string text = labels ? "id,width,weight,density,kind\n" : "density,width,weight\n";
    for (int i = 0; i < rows; ++i) {
        const int kind = i % 3;
        const double shift = 0.01 * (i * 37 % 50);
        const std::string width = std::to_string(5 + 0.8 * kind + shift);
        const std::string weight = std::to_string(100 + (kind == 1 ? 12 : 0) + 10 * shift);
        const std::string density = std::to_string(0.1 + (kind == 2 ? 0.03 : 0) + 0.02 * shift);
        if (labels)
            text += std::to_string(i + 1) + "," + width + "," + weight + "," + density + ",kind" +
                    std::to_string(kind) + "\n";
        else
            text += density + "," + width + "," + weight + "\n";
    }
    return text;
}

/// Rows whose labels are coin flips.
std::string coins(int rows, int from = 0) {
    std::string text = "x,y,kind\n";
    for (int i = from; i < rows; ++i)
        text += std::to_string(0.37 * (i * 7919 % 101)) + "," + std::to_string(0.53 * (i * 104729 % 97)) +
                "," + ((i * 2654435761U >> 13) % 2 == 0 ? "a" : "b") + "\n";
    return text;
}

} // namespace

TEST_CASE("clusters on very different scales are told apart with the usual settings") {
    const Folder folder;
    write(folder, "t.csv", clusters(150));
    const std::string json = folder.file("r.json");
    const Outcome outcome =
        run("train" + quickly + "--data csv:" + folder.file("t.csv") + " --epochs 40 --json " + json);
    CHECK(outcome.code == 0);
    CHECK(outcome.says("target 'kind' (its name, and it is the last column): 3 classes (they are words)"));
    CHECK(outcome.says("standardised to mean 0 and deviation 1"));
    CHECK(outcome.says("left out: 'id'"));
    const Json result = Json::parse(contents(json));
    CHECK(result["lanes"][0]["test"]["accuracy"] == 1.0);
    const Json& columns = result["data"]["columns"];
    CHECK(columns["task"] == "classes");
    CHECK(columns["targets"] == Json({5}));
    CHECK(columns["why"]["scale"] == "numbers exceed 1");
    CHECK(columns["each"][1]["mean"].get<double>() == doctest::Approx(6.05).epsilon(0.02));
    const Outcome raw =
        run("train" + quickly + "--data csv:" + folder.file("t.csv") + " --epochs 40 --scale none");
    CHECK(raw.says("3 features as in the table (asked for)"));
}

TEST_CASE("from a table to predictions for new rows") {
    const Folder folder;
    write(folder, "t.csv", clusters(150));
    const std::string model = folder.file("m.safetensors");
    CHECK(
        run("train" + quickly + "--data csv:" + folder.file("t.csv") + " --epochs 40 --save " + model).code ==
        0);
    SUBCASE("columns in another order, no labels") {
        write(folder, "new.csv", clusters(12, false));
        const std::string csv = folder.file("p.csv");
        const std::string json = folder.file("p.json");
        const Outcome outcome = run("predict --model " + model + " --data csv:" + folder.file("new.csv") +
                                    " --csv " + csv + " --json " + json);
        CHECK(outcome.code == 0);
        CHECK(outcome.says("no labels, so no accuracy"));
        const std::string table = contents(csv);
        CHECK(table.starts_with("line,prediction,p(kind0),p(kind1),p(kind2)\n2,kind0,"));
        CHECK(std::ranges::count(table, '\n') == 13);
        const Json result = Json::parse(contents(json));
        CHECK(result["test"].is_null());
        REQUIRE(result["predictions"].size() == 12);
        for (std::size_t i = 0; i < 12; ++i) {
            CHECK(result["predictions"][i]["prediction"] == "kind" + std::to_string(i % 3));
            CHECK(result["predictions"][i]["line"] == i + 2);
            CHECK_FALSE(result["predictions"][i].contains("label"));
        }
    }
    SUBCASE("labels that the model never saw") {
        write(folder, "new.csv", clusters(6) + "7,5,100,0.1,strange\n");
        const Outcome outcome = run("predict --model " + model + " --data csv:" + folder.file("new.csv"));
        CHECK(outcome.code == 0);
        CHECK(outcome.says("1 row has a label that the model does not know ('strange')"));
        CHECK(outcome.says("accuracy 100.00 % of the 6 with a known label"));
    }
    SUBCASE("trained with a target said by its place") {
        CHECK(run("train" + quickly + "--data csv:" + folder.file("t.csv") +
                  " --target last --steps 50 --save " + model)
                  .code == 0);
        CHECK(run("predict --model " + model).says("(test)"));
        write(folder, "new.csv", clusters(6, false));
        const Outcome outcome = run("predict --model " + model + " --data csv:" + folder.file("new.csv"));
        CHECK(outcome.code == 0);
        CHECK(outcome.says("no labels, so no accuracy"));
        CHECK(run("train" + quickly + "--resume " + model + " --steps 51").code == 0);
    }
    SUBCASE("a column is missing") {
        write(folder, "new.csv", "width,kind\n5,kind0\n6,kind1\n");
        const Outcome outcome = run("predict --model " + model + " --data csv:" + folder.file("new.csv"));
        CHECK(outcome.code == 1);
        CHECK(outcome.says("the model needs the columns 'weight', 'density'"));
    }
    SUBCASE("numbers far from those trained on") {
        write(folder, "new.csv", "width,weight,density\n5,100,0.1\n5000,100,0.1\n");
        CHECK(run("predict --model " + model + " --data csv:" + folder.file("new.csv"))
                  .says("'width' reaches 5000 in line 3"));
    }
}

TEST_CASE("values to predict come back in the table's units") {
    const Folder folder;
    std::string rows = "size,rooms,price\n";
    for (int i = 0; i < 120; ++i)
        rows += std::to_string(40 + i) + "," + std::to_string(1 + i % 5) + "," +
                std::to_string(100000 + 2500 * i + 9000 * (i % 5)) + ".5\n";
    write(folder, "t.csv", rows);
    write(folder, "new.csv", "size,rooms\n60,1\n");
    const std::string model = folder.file("m.safetensors");
    CHECK(run("train" + quickly + "--data csv:" + folder.file("t.csv") + " --steps 3000 --save " + model)
              .says("target 'price' (it is the last column): values"));
    const Outcome outcome =
        run("predict --model " + model + " --data csv:" + folder.file("new.csv") + " --csv -");
    CHECK(outcome.code == 0);
    REQUIRE(outcome.out.starts_with("line,predicted price\n2,"));
    const double price = std::stod(outcome.out.substr(outcome.out.find("\n2,") + 3));
    CHECK(price == doctest::Approx(150000).epsilon(0.05));
}

TEST_CASE("a table that has changed since is noticed") {
    const Folder folder;
    write(folder, "t.csv", coins(60));
    const std::string model = folder.file("m.safetensors");
    CHECK(
        run("train" + quickly + "--data csv:" + folder.file("t.csv") + " --steps 200 --save " + model).code ==
        0);
    const Outcome same = run("predict --model " + model);
    CHECK(same.code == 0);
    CHECK_FALSE(same.says("has changed"));
    CHECK(run("train" + quickly + "--resume " + model + " --steps 201").code == 0);
    write(folder, "t.csv", coins(60, 1));
    const Outcome changed = run("predict --model " + model + " --json " + folder.file("p.json"));
    CHECK(changed.code == 0);
    CHECK(changed.says("has changed since the model was trained on it (59 examples now, 60 then)"));
    CHECK(Json::parse(contents(folder.file("p.json")))["data_changed"] == true);
    const Outcome refused = run("train" + quickly + "--resume " + model + " --steps 202");
    CHECK(refused.code == 1);
    CHECK(refused.says("47 training and 12 test examples, then 48 and 12"));
}

TEST_CASE("pixels in a table are those that a model of images was trained on") {
    const Folder folder;
    const auto bigEndian = [](std::uint32_t value) {
        std::string bytes;
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
        return bytes;
    };
    std::string images = bigEndian(0x803) + bigEndian(60) + bigEndian(4) + bigEndian(4);
    std::string labels = bigEndian(0x801) + bigEndian(60);
    std::string bright = "label";
    for (int p = 0; p < 16; ++p) bright += ",pixel" + std::to_string(p);
    std::string unit = bright + "\n";
    bright += "\n";
    for (int i = 0; i < 60; ++i) {
        labels += static_cast<char>(i % 3);
        bright += std::to_string(i % 3);
        unit += std::to_string(i % 3);
        for (int p = 0; p < 16; ++p) {
            const int pixel = (p % 3 == i % 3 ? 150 : 20) + (i * 31 + p * 17) % 100;
            images += static_cast<char>(pixel);
            bright += "," + std::to_string(pixel);
            unit += "," + std::to_string(pixel / 255.0);
        }
        bright += "\n";
        unit += "\n";
    }
    write(folder, "train-images-idx3-ubyte", images);
    write(folder, "train-labels-idx1-ubyte", labels);
    write(folder, "bright.csv", bright);
    write(folder, "unit.csv", unit);
    const std::string model = folder.file("m.safetensors");
    CHECK(
        run("train" + quickly + "--data idx:" + folder.path.string() + " --steps 50 --save " + model).code ==
        0);
    const auto loss = [&](const std::string& table) {
        const Outcome outcome = run("predict --model " + model + " --split all --data " + table + " --json " +
                                    folder.file("p.json"));
        CHECK(outcome.code == 0);
        return Json::parse(contents(folder.file("p.json")))["test"]["loss"].get<double>();
    };
    const double images60 = loss("idx:" + folder.path.string());
    CHECK(loss("csv:" + folder.file("bright.csv")) == doctest::Approx(images60).epsilon(1e-6));
    CHECK(loss("csv:" + folder.file("unit.csv")) == doctest::Approx(images60).epsilon(1e-4));
    CHECK(run("train" + quickly + "--data csv:" + folder.file("bright.csv") + " --steps 5")
              .says("16 features read as pixels / 255"));
}

TEST_CASE("nothing that a terminal obeys comes out of the names in files") {
    const Folder folder;
    const std::string controls = "\x1b[31m\xC2\x9B"
                                 "2J\x07";
    const std::string nested = "\xC2\x1B\x9B\xC2\xC2\x9B\x9B"; // what is left once the inner ones are gone
    std::string rows = "x" + controls + ",w,kind" + controls + "\n";
    for (int i = 0; i < 12; ++i)
        rows += std::to_string(1.5 * i) + ",2.5," + (i % 2 ? "a" : "b") + controls + "\n";
    write(folder, "t.csv", rows);
    write(folder, controls + nested + ".csv", rows + "1,2\n");
    const std::string model = folder.file("m.safetensors");
    const auto requirePlain = [](const Outcome& outcome) {
        for (const std::string* text : {&outcome.out, &outcome.err}) {
            CHECK(text->find('\x1b') == std::string::npos);
            CHECK(text->find("\xC2\x9B") == std::string::npos);
            CHECK(text->find('\x07') == std::string::npos);
        }
    };
    const Outcome trained =
        run("train --lane cpu:best --steps 20 --data csv:" + folder.file("t.csv") + " --save " + model);
    CHECK(trained.code == 0);
    CHECK(trained.says("'kind[31m2J'"));
    requirePlain(trained);
    const Outcome predicted = run("predict --model " + model + " --split all");
    CHECK(predicted.says("is \\ says"));
    requirePlain(predicted);
    const Outcome refused =
        run("train --lane cpu:best --steps 20 --data 'csv:" + folder.file(controls + nested + ".csv") + "'");
    CHECK(refused.code == 1);
    CHECK(refused.says("this row has 2 fields"));
    requirePlain(refused);
    requirePlain(run("data csv:" + folder.file("t.csv")));
}

TEST_CASE("a loss outside its domain is refused before the first step") {
    const Folder folder;
    std::string rows = "x,y,label\n";
    for (int i = 0; i < 10; ++i)
        rows +=
            std::to_string(0.3 * i) + "," + std::to_string(1 - 0.2 * i) + "," + (i % 2 ? "1" : "-1") + "\n";
    write(folder, "svm.csv", rows);
    const std::string start = "train" + quickly + "--steps 50 --data csv:" + folder.file("svm.csv");
    CHECK(run(start).says("2 classes (they are two whole numbers)"));
    CHECK(run(start + " --loss bce").code == 0);
    CHECK(run(start + " --loss cross-entropy").code == 0);
    const Outcome refused = run(start + " --loss bce --task values");
    CHECK(refused.code == 2);
    CHECK(refused.says("bce needs targets from 0 to 1, but line 2 has -1; use mse or huber"));
}
